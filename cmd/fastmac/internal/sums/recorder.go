// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"cmp"
	"errors"
	"fmt"

	"example.com/fastmac/cmd/fastmac/internal/list"
)

// A recorder counts and prints what Tag finds.
type recorder struct {
	options *Options
	report  *Changes
	printer *printer // of results, or of the list
}

// add counts a result, and adds it to the report or prints it unless that is as it should be.
func (r *recorder) add(file File) error {
	c := r.report
	switch file.Result {
	case resultTagged:
		c.Tagged++
		return nil
	case resultOK:
		c.Tagged++
		c.Kept++
		return nil
	case resultNew:
		c.Tagged++
		c.New++
	case resultChanged:
		c.Tagged++
		c.Changed++
	case resultGone, resultExcluded:
		c.Gone++
	case resultLeftOut:
		c.LeftOut++
	case resultUnreadable:
		c.Unreadable++
	}
	c.Files = append(c.Files, file)
	if file.Result == resultLeftOut && r.options.Quiet {
		return nil
	}
	return r.printer.print(file, file.Error == "" && r.options.Changes == nil)
}

// check returns an error if the list of a plan is not to be written, or not to have an end line, with which
// verify would say that it is whole.
func (r *recorder) check(p *plan) error {
	c, o := r.report, r.options
	out := cmp.Or(o.Update, o.Output)
	switch {
	case c.Unreadable > 0 && !o.KeepGoing:
		text := count(c.Unreadable, c.Unreadable+c.Tagged, "file") + " not tagged"
		switch {
		case out != "" && out != "-":
			text += ", so no list is written to " + shown(out)
		case c.Tagged > 0:
			text += ", so the list has no end line"
		}
		return errors.New(text)
	case c.Changed > 0 && !o.AcceptChanges:
		return fmt.Errorf("%s changed, so %s stays as it was: --accept-changes accepts that", count(c.Changed, c.Tagged+c.Gone, "file"), shown(out))
	case c.Tagged == 0 && c.Unreadable+c.Gone > 0:
		return errors.New("no file is left to tag")
	case p.old != nil && len(p.old.found) > 0 && c.Kept+c.Changed+c.Unreadable == 0 && !o.AcceptChanges:
		return fmt.Errorf("no file of the list is there, so %s stays as it was: it may be the list of another folder; --accept-changes accepts that", shown(out))
	case c.Tagged == 0:
		return errors.New("no files except the output: nothing is tagged")
	case len(p.folders)+len(p.patterns)+c.Unreadable > list.MaxNotes:
		return fmt.Errorf("more than %d folders, patterns and files that cannot be read", list.MaxNotes)
	}
	return nil
}

// finish reports on a list that has been written.
func (r *recorder) finish(p *plan) error {
	c, o := r.report, r.options
	switch {
	case o.Quiet || o.Changes != nil:
	case o.Update != "":
		r.printer.errorf("%s%s", c.summary(), c.without(p))
	case c.LeftOut > 0 || len(p.patterns) > 0:
		r.printer.errorf("%s tagged%s", list.Counted(c.Tagged, "file"), c.without(p))
	}
	if c.Unreadable > 0 {
		text := " not tagged, and the list says so"
		if o.Update != "" {
			text = " not read: the list has the old line, or says so"
		}
		return errors.New(count(c.Unreadable, c.Unreadable+c.Tagged, "file") + text)
	}
	return nil
}
