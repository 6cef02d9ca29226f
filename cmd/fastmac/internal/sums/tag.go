// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"os"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
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
	patterns, err := o.readExclude(ctx)
	if err != nil {
		return err
	}
	// They may come from a program that reads the list, such as verify: only then can it be locked.
	if args, err = o.readFiles(ctx, args); err != nil {
		return err
	}
	path := cmp.Or(o.Update, o.Output)
	toFile := path != "" && path != "-"
	if toFile {
		unlock, err := o.lockList(ctx, path, true)
		if err != nil {
			return err
		}
		defer unlock()
		removeUnfinished(path)
	}
	old, err := o.readOld(ctx, r)
	if err != nil {
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
	r.files.Special, r.files.Folder, r.files.Folders, r.files.Output = true, "is a folder: use -r", p.folders, out.is
	results := newPrinter(out, o.Stderr, r.progress)
	results.typed(args...)
	lines := results.out
	if old != nil {
		results.out = bufio.NewWriter(o.Stdout)
	}
	if !o.Quiet {
		for _, text := range p.unmatched {
			results.errorf("warning: %s", text)
		}
	}
	t := &tagger{run: r, plan: p, about: o.newAbout(ctx, r, old), recorder: &recorder{&o, report, results}}
	report.Serial = t.about.Serial
	if err := t.write(ctx, lines); err != nil {
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	report.Written = toFile
	if o.AtLeast != nil {
		if err := o.raise(ctx, t.about.Serial); err != nil {
			return err
		}
	}
	return t.recorder.finish(p)
}

// newAbout returns what the new list says of itself, but when it was written: its serial number is the next one
// after that of the list which it replaces.
func (o *Options) newAbout(ctx context.Context, r *run, old *oldList) list.About {
	about := list.About{Label: o.Label, Serial: 1}
	switch {
	case old != nil:
		about.Label, about.Serial = cmp.Or(o.Label, old.About.Label), old.About.Serial+1
	case o.Force:
		about.Serial = max(1, o.replaced(ctx, r)+1)
	}
	return about
}

// replaced returns the serial number of the list that Force replaces, or 0 if there is none by this key.
func (o *Options) replaced(ctx context.Context, r *run) uint64 {
	if info, err := os.Stat(o.Output); err != nil || !info.Mode().IsRegular() {
		return 0
	}
	for _, zero := range []bool{o.Zero, !o.Zero} {
		in, stop := tree.OpenPipe(ctx, func() (io.ReadCloser, error) { return openList(o.Output) })
		l, err := list.Read(in, r.key, zero)
		stop()
		if err == nil && l.Check(r.key) == nil && l.Complete() == nil {
			return l.About.Serial
		}
	}
	return 0
}
