// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package store keeps a number in a file: counters below it may have been used. A [File] is a Store
// for the function Stored of package packet, where a key stays the same across restarts:
//
//	f, err := store.Open("/var/lib/meter/send")
//	...
//	s, err := packet.NewUMACSender(c, packet.Stored(f, nil))
//	...
//	err = s.Stop() // an orderly end, after which no counter is skipped
//	err = f.Close()
//
// The sender or receiver reserves counters here before it uses them. So a crash at any point skips
// counters, and repeats none. Each sender and each receiver has a file of its own.
//
// # The secret and its files
//
// A file belongs to its secret from the first counter to the last. Call [Create] once, where the
// secret is made, and [Open] at each start. Do not call Create because Open has failed: counters
// would begin at 0 again under a key that has used them, and then an attacker can forge packets
// or repeat them.
//
// In these cases nobody knows any more which counters were used. Make a new secret, at both
// ends, and then new files:
//
//   - The file is missing. Open refuses to go on.
//   - The file is damaged. Open refuses that too.
//   - The file was restored from a backup, or with a snapshot of a disk or a virtual machine. This
//     is not noticed if the lock beside it was restored too. So leave both out of backups and
//     images.
//   - Two machines or containers have used copies of the file. This is not noticed either. A
//     copy without the lock is refused.
//
// To move a file to another machine or folder, end the program, move the file and its lock, and
// leave nothing behind that could be started.
//
// Keep the folder where only the program can write: whoever can write the file can set it back. A
// folder that is empty again after a restart, as in a container without a volume, is the wrong
// place for it.
//
// # Locks and disks
//
// PATH.lock keeps away a second process on this machine, and a second File in this process. The
// system releases the lock when the process ends, however it ends. Never remove PATH.lock: Open
// does not make it again. On a network file system it depends on the server whether other machines
// see the lock. If they do not, most writes notice that the file has changed, and fail.
//
// A change goes to PATH.new, which is synced and then replaces the file. Then the folder is synced.
// So there is always a whole file, even after a power cut, if the disk has written what it says it
// has. The three files have the permissions 0600. On systems without such a lock, such as Plan 9
// and WebAssembly, Create and Open return an error.
//
// # Format
//
// The file has five lines, each of which ends with a line feed:
//
//	fastmac counters 2
//	Do not edit, copy or restore this file: counters would repeat.
//	id 00112233445566778899aabbccddeeff
//	end 4294967296
//	sum 0123456789abcdef
//
// The id tells which key and direction the counters belong to, and nothing about the secret. It is
// "none" until the first Reserve. No counter from the end on was used. The sum is the first 8 bytes
// of the SHA-256 of the lines above it, against accidents. A file with any other byte is damaged.
package store
