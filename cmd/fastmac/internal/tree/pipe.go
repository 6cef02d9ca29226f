// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"context"
	"io"
)

// bufferSize is what is read at a time, in bytes. Larger files are mapped into memory, which takes less time
// than to copy them.
const bufferSize = 512 << 10

// OpenPipe returns a reader for what open returns. When ctx is done, it returns an error. To
// open or read a FIFO or a terminal can take forever, so another goroutine does it. It may
// outlive its reader, and then ends after the next read. stop ends the reader.
func OpenPipe(ctx context.Context, open func() (io.ReadCloser, error)) (in io.Reader, stop func()) {
	pr, pw := io.Pipe()
	go func() {
		in, err := open()
		if err == nil {
			_, err = io.CopyBuffer(pw, onlyReader{in}, make([]byte, bufferSize))
			in.Close()
		}
		pw.CloseWithError(err)
	}()
	ignore := context.AfterFunc(ctx, func() { pw.CloseWithError(ctx.Err()) })
	return pr, func() {
		ignore()
		pr.Close()
	}
}

// An onlyReader hides WriteTo, which would not use the buffer of io.CopyBuffer.
type onlyReader struct{ io.Reader }
