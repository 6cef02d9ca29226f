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
// counters, and repeats none. Each sender and each receiver has a store of its own. A [Set] is a file
// with many stores, for a server with many peers.
//
// # The secret and its store
//
// A store belongs to its secret from the first counter to the last. Call [Create] once, where the
// secret is made, and [Open] at each start. Do not call Create because Open has failed: counters
// would begin at 0 again under a key that has used them, and then an attacker can forge packets
// or repeat them. Create refuses that in the process in which Open has missed a file, and wherever
// the file or its lock is left.
//
// If Open refuses, or if something happened that is not noticed, nobody knows any more which
// counters were used. Make a new secret, at both ends, and then new stores:
//
//	what happened                                       then
//	the process was killed                              Open goes on
//	the power was cut                                   Open goes on
//	both files were moved                               Open goes on
//	the lock was restored                               Open goes on, or refuses
//	a file is missing                                   Open refuses
//	a file is damaged                                   Open refuses
//	the file was restored                               Open refuses
//	the file was copied without its lock                Open refuses
//	both were copied, and later the file was put back   Open refuses
//	the file is of another store                        Open refuses
//	the file was restored while it was open             the next write fails
//	both files were restored                            not noticed
//	both files were copied, and both copies are used    not noticed
//	a snapshot of a disk or a machine was restored      not noticed
//	both files are missing, and Create is called        not noticed by a new process
//
// So leave the file and its lock out of backups and images. To move them to another machine or
// folder, end the program, move both, and leave nothing behind that could be started.
//
// Keep the folder where only the program can write: whoever can write the files can set them back. A
// folder that is empty again after a restart, as in a container without a volume, is the wrong
// place for them.
//
// # Locks and disks
//
// PATH.lock keeps away a second process on this machine, and a second File in this process. The
// system releases the lock when the process ends, however it ends. Never remove PATH.lock: Open
// does not make it again. On a network file system it depends on the server whether other machines
// see the lock. If they do not, most writes notice that the file has changed, and fail.
//
// A change is written after the last one, in place, and synced. Then its mark goes to one half of the
// lock, that of the next change to the other half, and is synced too. So a file that lacks the mark of
// its lock is not the newest one, and one that has more is: the power was cut between the two. When the
// file is full, its last states go to PATH.new, which is synced and replaces it, and the folder is synced.
// All this relies on a disk that has written what it says it has, and changes no other bytes than
// those that are written. The three files have the permissions 0600. On systems without such a lock,
// such as Plan 9 and WebAssembly, Create and Open return an error.
//
// # Format
//
// The file begins with 128 bytes of text. Then there are records of 64 bytes:
//
//	16 bytes   the first half of the SHA-256 of the name; a store with a file of its own has no name
//	16 bytes   the id: which key and direction the counters belong to, and nothing about the secret
//	8 bytes    the number of the record, as the next ones from the most significant byte on
//	8 bytes    2·end+1: no counter from end on was used; or 0 if there is no id yet
//	16 bytes   the first half of the SHA-256 of the sum of the record before, and of the 48 bytes above
//
// The number and the sum are the mark. The first record is after none, and has the mark of what was
// before: a number s, which is its own less 1, and a sum, in place of the name, which is random in a
// new file. In place of the end it has a number n. The n states at that time follow. Then there is
// room for n+59 changes, which go on from that mark. The lock has two marks, in records at 0 and 512
// with the number 1, with the sum in place of the name and the number in place of the end.
package store
