// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bufio"
	"cmp"
	"context"
)

// Tag writes a list: a line for each file with its tag under a fresh nonce, and an end line. It
// goes on after a file that it cannot read. Then it writes no end line, leaves Output as it was, and
// returns an error, unless KeepGoing is set.
func Tag(ctx context.Context, o Options, args []string) error {
	r, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	path := cmp.Or(o.Update, o.Output)
	toFile := path != "" && path != "-"
	if toFile {
		removeUnfinished(path)
	}
	old, err := o.readOld(ctx, r)
	if err != nil {
		return err
	}
	patterns, err := o.readExclude(ctx)
	if err != nil {
		return err
	}
	if args, err = o.readFiles(ctx, args); err != nil {
		return err
	}
	p, err := o.plan(ctx, old, args, patterns)
	if err != nil {
		return err
	}
	report := cmp.Or(o.Changes, new(Changes))
	report.Excluded = p.excluded
	// Only now, so that it is not in the list.
	out, err := o.createOutput(old)
	if err != nil {
		return err
	}
	defer out.discard()
	r.files.Special, r.files.Folder, r.files.Folders, r.files.Output = true, "is a folder: use -r", p.folders, out.there()
	results := newPrinter(out, o.Stderr, r.progress)
	results.typed(args...)
	lines := results.out
	if old != nil {
		results.out = bufio.NewWriter(o.Stdout)
	}
	t := &tagger{run: r, plan: p, recorder: &recorder{&o, report, results}}
	if err := t.write(ctx, lines); err != nil {
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	report.Written = toFile
	return t.recorder.finish()
}
