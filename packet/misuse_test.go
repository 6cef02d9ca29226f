// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
	"example.com/fastmac/packet/store"
)

// A misuse is a wrong program.
type misuse struct {
	what  string
	want  string       // in its error, or in the text of its panic; empty if nothing notices it
	run   func() error // what it does, up to the error
	said  []string     // what the documentation says if nothing notices it
	races bool         // -race reports it too
}

// TestMisuse has the likeliest mistakes in the use of this package, and what says so.
func TestMisuse(t *testing.T) {
	rows := slices.Concat(wrongKeys(), wrongCounters(), wrongStores(t), wrongHellos(), wrongCalls())
	said, silent := documentation(t), 0
	for _, m := range rows {
		if m.races && mactest.Race {
			continue
		}
		err := func() (err error) {
			defer func() {
				if text := recover(); text != nil {
					err = fmt.Errorf("%v", text)
				}
			}()
			return m.run()
		}()
		if m.want == "" {
			silent++
			if err != nil || len(m.said) == 0 || slices.ContainsFunc(m.said, func(s string) bool { return !strings.Contains(said, s) }) {
				t.Errorf("%s: %v, want nothing; said: %q", m.what, err, m.said)
			}
		} else if err == nil || !strings.Contains(err.Error(), m.want) {
			t.Errorf("%s: %v, want %q in it", m.what, err, m.want)
		}
	}
	if silent > 2 {
		t.Errorf("nothing notices %d wrong programs", silent)
	}
}

// documentation returns all comments of the package, each in one line.
func documentation(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, name := range mactest.Must(filepath.Glob("*.go")) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := mactest.Must(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments))
		for _, comment := range f.Comments {
			fmt.Fprintln(&all, strings.Join(strings.Fields(comment.Text()), " "))
		}
	}
	return all.String()
}

func misuseConfig() Config {
	c := config()
	c.TagSize = 16
	return c
}

// misusePair is a Config for NewUMACPair.
func misusePair() Config {
	c := misuseConfig()
	c.Sender = ""
	return c
}

func initSender(c Config, n Counters) error { return second(NewUMACSender(c, n)) }

func pairOf(me, peer string, n Counters) error {
	_, _, err := NewUMACPair(misusePair(), me, peer, n)
	return err
}

// sent is what a receiver says about the first packet of a sender.
func sent(s sender, r receiver) error {
	_, _, err := r.Open(mactest.Must(s.Seal([]byte("message"), nil)), nil)
	return err
}

// wrongKeys are programs whose Config is wrong, or is shown.
func wrongKeys() []misuse {
	c, zeros := misuseConfig(), misuseConfig()
	zeros.Secret = make([]byte, 32)
	var encoded bytes.Buffer
	return []misuse{
		{what: "a password", want: "Secret of 7 bytes", run: func() error {
			return initSender(Config{Secret: []byte("hunter2"), Sender: "a", TagSize: 16}, SecretIsNew())
		}},
		{what: "a Secret of zeros", want: "all bytes of the Secret are equal", run: func() error { return initSender(zeros, SecretIsNew()) }},
		{what: "a Secret of one byte", want: "all bytes of the Secret are equal", run: func() error {
			return always(func(n int) error {
				return initSender(Config{Secret: bytes.Repeat([]byte("x"), n), Sender: "a", TagSize: 16}, SecretIsNew())
			})
		}},
		{what: "a hello with a Secret of zeros", want: "all bytes of the Secret are equal", run: func() error {
			return second(NewUMACClient(Config{Secret: zeros.Secret, TagSize: 16}, "a", "b"))
		}},
		{what: "the tag size in bits", want: "TagSize of 128", run: func() error {
			return initSender(Config{Secret: c.Secret, Sender: "a", TagSize: 128}, SecretIsNew())
		}},
		{what: "one name for both ends", want: "same name", run: func() error { return pairOf("a", "a", SecretIsNew()) }},
		{what: "names not exchanged", want: ErrForged.Error(), run: func() error {
			s, _, err1 := NewUMACPair(misusePair(), "a", "b", SecretIsNew())
			_, r, err2 := NewUMACPair(misusePair(), "a", "b", SecretIsNew())
			return errors.Join(err1, err2, sent(s, r))
		}},
		{what: "JSON of a Config", want: errEncoded.Error(), run: func() error { return second(json.Marshal(c)) }},
		{what: "XML of a Config", want: errEncoded.Error(), run: func() error { return second(xml.Marshal(c)) }},
		{what: "gob of a Config", want: errEncoded.Error(), run: func() error { return gob.NewEncoder(&encoded).Encode(c) }},
		{what: "text of a Config", want: errEncoded.Error(), run: func() error { return second(c.MarshalText()) }},
		{what: "a Config from JSON", want: "cannot unmarshal", run: func() error { return json.Unmarshal([]byte(`{"TagSize": 16}`), &c) }},
		{what: "a log with a Config", want: "v=packet.Config", run: func() error {
			var log bytes.Buffer
			slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", c)
			return errors.New(log.String())
		}},
	}
}

// always returns the error that f returns for each size from 16 bytes on, or nil if one of them has none.
func always(f func(n int) error) (err error) {
	for n := 16; n <= 257; n++ {
		if err = f(n); err == nil {
			return nil
		}
	}
	return err
}

// wrongCounters are programs that say wrongly, or twice, why no counter is used twice.
func wrongCounters() []misuse {
	c, session := misuseConfig(), random(32)
	halves := func(first, second []byte) error { return initSender(c, NewSession(slices.Concat(first, second))) }
	const twice = "these Counters have a sender already"
	const again = "these Counters have a receiver already"
	return []misuse{
		{what: "no Counters", want: "NewSession, Stored or SecretIsNew", run: func() error { return initSender(c, Counters{}) }},
		{what: "no session", want: "session of 0 bytes", run: func() error { return halves(nil, nil) }},
		{what: "the session of one end only", want: "session of 16 bytes", run: func() error { return halves(session[:16], nil) }},
		{what: "one's own bytes twice", want: "halves of the session are equal", run: func() error {
			return always(func(n int) error { half := random(n); return halves(half, half) })
		}},
		{what: "the other end's are not there", want: "all bytes of one", run: func() error {
			return always(func(n int) error { return halves(random(n), make([]byte, n)) })
		}},
		{what: "one's own are all equal", want: "all bytes of one", run: func() error {
			return always(func(n int) error { return halves(bytes.Repeat([]byte{1}, n), random(n)) })
		}},
		{what: "one's own half first at both ends", want: ErrForged.Error(), run: func() error {
			s := newSender(packetref.UMAC128, c, NewSession(session))
			return sent(s, newReceiver(packetref.UMAC128, c, NewSession(slices.Concat(session[16:], session[:16]))))
		}},
		{what: "a session for two senders", want: twice, run: func() error {
			n := NewSession(session)
			return errors.Join(initSender(c, n), initSender(c, n))
		}},
		{what: "a session for two senders with limits", want: twice, run: func() error {
			c, n, near := c, NewSession(session), c
			c.MaxAge, near.Near = time.Hour, func(error) {}
			return errors.Join(initSender(c, n), initSender(near, n))
		}},
		{what: "a session for two receivers with limits", want: again, run: func() error {
			c, n, near := c, NewSession(session), c
			c.MaxAge, near.Near = time.Hour, func(error) {}
			return errors.Join(second(NewUMACReceiver(c, n)), second(NewUMACReceiver(near, n)))
		}},
		{what: "a session for two senders with limits", want: twice, run: func() error {
			aged, told, n := c, c, NewSession(session)
			aged.MaxAge, told.Near = time.Hour, func(error) {}
			return errors.Join(initSender(aged, n), initSender(told, n))
		}},
		{what: "a session for two receivers with limits", want: again, run: func() error {
			aged, told, n := c, c, NewSession(session)
			aged.MaxAge, told.Near = time.Hour, func(error) {}
			return errors.Join(second(NewUMACReceiver(aged, n)), second(NewUMACReceiver(told, n)))
		}},
		{what: "a new secret for two senders", want: twice, run: func() error {
			n := SecretIsNew()
			copied := n
			return errors.Join(initSender(c, n), initSender(c, copied))
		}},
		{what: "a session for a sender twice in one place", want: twice, run: func() error {
			var s UMACSender
			n := NewSession(session)
			return errors.Join(s.Init(c, n), s.Init(c, n))
		}},
		{what: "a session for two pairs", want: twice, run: func() error {
			n := NewSession(session)
			return errors.Join(pairOf("a", "b", n), pairOf("a", "b", n))
		}},
		{what: "a receiver made again", want: again, run: func() error {
			n := NewSession(session)
			return errors.Join(second(NewUMACReceiver(c, n)), second(NewUMACReceiver(c, n)))
		}},
		{what: "a session and a secret that are not new", run: func() error {
			return errors.Join(initSender(c, NewSession(session)), initSender(c, NewSession(session)), initSender(c, SecretIsNew()), initSender(c, SecretIsNew()))
		}, said: []string{"nothing notices a second call with the same bytes", "Nothing notices a second call for the same Secret and names."}},
	}
}

// A listStore is a Store of a type that cannot be compared.
type listStore []*memory

func (f listStore) Reserve(id [16]byte, n uint64) (uint64, error) { return f[0].Reserve(id, n) }
func (f listStore) Release(id [16]byte, end, next uint64) error   { return f[0].Release(id, end, next) }

// A wrapped is a Store that is another value each time.
type wrapped struct{ Store }

// wrongStores are programs with wrong Stores.
func wrongStores(t *testing.T) []misuse {
	c, dir := misuseConfig(), t.TempDir()
	opened := func(name string) (path string, f *store.File) {
		path = filepath.Join(dir, name)
		if err := store.Create(path); err != nil {
			t.Fatal(err)
		}
		f = mactest.Must(store.Open(path))
		t.Cleanup(func() { f.Close() })
		return path, f
	}
	return []misuse{
		{what: "a Store that was not opened", want: "without a Store for the sender", run: func() error { return initSender(c, Stored(nil, nil)) }},
		{what: "one Store for both directions", want: "one Store for both directions", run: func() error {
			m := new(memory)
			return pairOf("a", "b", Stored(m, m))
		}},
		{what: "one Store for both directions, of a type that cannot be compared", want: "the Store of another key", run: func() error {
			f := listStore{new(memory)}
			return pairOf("a", "b", Stored(f, f))
		}},
		{what: "one Store for both directions, in two others", want: "the Store of another key", run: func() error {
			m := new(memory)
			return pairOf("a", "b", Stored(&wrapped{m}, &wrapped{m}))
		}},
		{what: "one file for both directions", want: "is for another secret, configuration or direction", run: func() error {
			_, f := opened("both")
			return pairOf("a", "b", Stored(&wrapped{f}, &wrapped{f}))
		}},
		{what: "one Store for two keys", want: "another key", run: func() error {
			m, other := new(memory), c
			other.Epoch++
			return errors.Join(initSender(c, Stored(m, nil)), initSender(other, Stored(m, nil)))
		}},
		{what: "stores exchanged", want: "another key", run: func() error {
			m := new(memory)
			return errors.Join(second(NewUMACReceiver(c, Stored(nil, m))), initSender(c, Stored(m, nil)))
		}},
		{what: "a receiver without the Store that its sender has", want: ErrForged.Error(), run: func() error {
			return sent(newSender(packetref.UMAC128, c, Stored(new(memory), nil)), newReceiver(packetref.UMAC128, c, SecretIsNew()))
		}},
		{what: "two processes", want: store.ErrLocked.Error(), run: func() error {
			path, _ := opened("locked")
			return second(store.Open(path))
		}},
		{what: "Create when Open fails, because the file is lost", want: "must not begin again", run: func() error {
			path, f := opened("lost")
			f.Close()
			if os.Remove(path) != nil || second(store.Open(path)) == nil {
				return nil
			}
			return store.Create(path)
		}},
		{what: "Create when Open fails, because the file is damaged", want: "is there already", run: func() error {
			path, f := opened("damaged")
			f.Close()
			if os.Truncate(path, 3) != nil || second(store.Open(path)) == nil {
				return nil
			}
			return store.Create(path)
		}},
		{what: "a Store in memory", run: func() error {
			first, again := newSender(packetref.UMAC128, c, Stored(new(memory), nil)), newSender(packetref.UMAC128, c, Stored(new(memory), nil))
			if !bytes.Equal(mactest.Must(first.Seal(nil, nil)), mactest.Must(again.Seal(nil, nil))) {
				return errors.New("the packets differ")
			}
			return nil
		}, said: []string{"Nothing notices a Store that forgets it when the program ends"}},
	}
}

// wrongHellos are programs that use the ends of sessions in another order, or twice. No call makes a second sender
// of a session, or a receiver that is not the server's: so With twice, and Opened before Open or never, cannot be
// written.
func wrongHellos() []misuse {
	ends := func() (*UMACClient, *UMACServer) {
		c := misusePair()
		return mactest.Must(NewUMACClient(c, "a", "b")), mactest.Must(NewUMACServer(c, "b", "a"))
	}
	return []misuse{
		{what: "a server that seals before a packet has opened the session", want: ErrNoSession.Error(), run: func() error {
			a, b := ends()
			a.Answer(mactest.Must(b.Answer(nil, a.Hello(nil))))
			return second(b.Seal([]byte("message"), nil))
		}},
		{what: "a batch of such a server", want: ErrUnknown.Error(), run: func() error {
			_, b := ends()
			batch := []Packet{{Bytes: []byte("message")}}
			SealBatch([]*UMACSender{b.Sender()}, batch)
			return batch[0].Err
		}},
		{what: "a client that seals before the answer", want: ErrNoSession.Error(), run: func() error {
			a, _ := ends()
			return second(a.Seal([]byte("message"), nil))
		}},
		{what: "an answer that is taken twice", want: "false", run: func() error {
			a, b := ends()
			answer := mactest.Must(b.Answer(nil, a.Hello(nil)))
			if !a.Answer(answer) {
				return nil
			}
			return fmt.Errorf("%t", a.Answer(answer))
		}},
		{what: "one first packet for two servers", want: ErrForged.Error(), run: func() error {
			a, b := ends()
			_, other := ends()
			a.Answer(mactest.Must(b.Answer(nil, a.Hello(nil))))
			other.Answer(nil, a.Hello(nil))
			_, _, err := other.Open(mactest.Must(a.Seal([]byte("message"), nil)), nil)
			return err
		}},
		{what: "a packet that is opened twice", want: ErrReplayed.Error(), run: func() error {
			a, b := ends()
			a.Answer(mactest.Must(b.Answer(nil, a.Hello(nil))))
			p := mactest.Must(a.Seal([]byte("message"), nil))
			b.Open(bytes.Clone(p), nil)
			_, _, err := b.Open(p, nil)
			return err
		}},
		{what: "a sender that is kept after Close", want: ErrEnd.Error(), run: func() error {
			a, b := ends()
			a.Answer(mactest.Must(b.Answer(nil, a.Hello(nil))))
			b.Open(mactest.Must(a.Seal([]byte("message"), nil)), nil)
			s := b.Sender()
			b.Close()
			return second(s.Seal([]byte("message"), nil))
		}},
		{what: "a copied client", want: "false", run: func() error {
			a, b := ends()
			return fmt.Errorf("%t", copyOf(a).Answer(mactest.Must(b.Answer(nil, a.Hello(nil)))))
		}},
		{what: "a copied server", want: ErrCopied.Error(), run: func() error {
			a, b := ends()
			return second(copyOf(b).Answer(nil, a.Hello(nil)))
		}},
		{what: "names of hellos not exchanged", want: ErrForged.Error(), run: func() error {
			a, _ := ends()
			return second(mactest.Must(NewUMACServer(misusePair(), "a", "b")).Answer(nil, a.Hello(nil)))
		}},
	}
}

// wrongCalls are programs that use senders and receivers wrongly.
func wrongCalls() []misuse {
	c := misuseConfig()
	s := newSender(packetref.UMAC128, c, SecretIsNew())
	ended := func() *UMACSender {
		s := mactest.Must(NewUMACSender(c, SecretIsNew()))
		s.Stop()
		return s
	}
	return []misuse{
		{what: "an ignored error of Seal", want: "0 bytes are sent", run: func() error {
			p, _ := ended().Seal([]byte("message"), nil)
			return fmt.Errorf("%d bytes are sent", len(p))
		}},
		{what: "an ignored error of the method SealBatch", want: "0 bytes are sent", run: func() error {
			batch := []Packet{{Bytes: []byte("message")}}
			ended().SealBatch(batch)
			return fmt.Errorf("%d bytes are sent", len(batch[0].Bytes))
		}},
		{what: "an ignored error of SealBatch", want: "0 bytes are sent", run: func() error {
			batch := []Packet{{Bytes: []byte("message")}}
			SealBatch([]*UMACSender{ended()}, batch)
			return fmt.Errorf("%d bytes are sent", len(batch[0].Bytes))
		}},
		{what: "an ignored error of Trailer", want: ErrForged.Error(), run: func() error { // the message is sent
			trailer, _ := ended().Trailer([]byte("message"), []byte("message"))
			_, _, err := newReceiver(packetref.UMAC128, c, SecretIsNew()).Open(append([]byte("message"), trailer...), nil)
			return err
		}},
		{what: "a sender copied", want: ErrCopied.Error(), run: func() error { return second(copyOf(s.(*UMACSender)).Seal(nil, nil)) }},
		{what: "a receiver destroyed while it opens", races: true, want: "use of a receiver that was destroyed", run: func() error {
			r := mactest.Must(NewUMACReceiver(c, SecretIsNew()))
			panic(whileOpening(r, &r.window, mactest.Must(s.Seal(nil, nil)), r.Destroy))
		}},
		{what: "data that the Config does not have", want: "data of 4 bytes: want 0", run: func() error { return second(s.Seal(nil, []byte("port"))) }},
		{what: "a sender that was never set up", want: "never set up", run: func() error { return second(new(UMACSender).Seal(nil, nil)) }},
		{what: "a batch with fewer senders", want: "0 senders and 1 packets", run: func() error {
			SealBatch([]*UMACSender{}, make([]Packet, 1))
			return nil
		}},
	}
}

// copyOf returns a copy, of which go vet does not know.
func copyOf[T any](v *T) *T {
	copied := new(T)
	reflect.ValueOf(copied).Elem().Set(reflect.ValueOf(v).Elem())
	return copied
}

// whileOpening calls kill between the tag and the window of a packet, and returns with what Open panics.
func whileOpening(r receiver, w *window, packet []byte, kill func()) any {
	w.mu.Lock()
	panics := make(chan any)
	go func() {
		defer func() { panics <- recover() }()
		r.Open(packet, nil)
	}()
	waits := func(goroutine []byte) bool {
		return bytes.Contains(goroutine, []byte("[sync.Mutex.Lock")) && bytes.Contains(goroutine, []byte("Receiver).Open("))
	}
	for all := make([]byte, 1<<20); !slices.ContainsFunc(bytes.Split(all[:runtime.Stack(all, true)], []byte("\n\n")), waits); {
		runtime.Gosched()
	}
	kill()
	w.mu.Unlock()
	return <-panics
}

// TestDestroyedWhileOpening destroys receivers, and sets them up anew, when Open has compared the tag: under another
// key the packet is not accepted.
func TestDestroyedWhileOpening(t *testing.T) {
	if mactest.Race {
		t.Skip("there is one")
	}
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := misuseConfig()
		c.TagSize = a.TagSize()
		for _, again := range []bool{false, true} {
			r := newReceiver(a, c, SecretIsNew())
			var w *window
			init := func() error { return nil }
			switch r := r.(type) {
			case *UMACReceiver:
				w, init = &r.window, func() error { return r.Init(c, SecretIsNew()) }
			case *GMACReceiver:
				w, init = &r.window, func() error { return r.Init(c, SecretIsNew()) }
			}
			got := whileOpening(r, w, sealAt(t, a, c, 0, "message"), func() {
				if r.Destroy(); again && init() != nil {
					t.Error("Init fails")
				}
			})
			if got != dead("receiver") {
				t.Errorf("set up again: %v: Open panics with %v", again, got)
			}
		}
	})
}

// TestCopiedSender checks that a copy seals nothing, and that the sender goes on. A sender does not move with the
// stack.
func TestCopiedSender(t *testing.T) {
	c := misuseConfig()
	var s UMACSender
	if err := s.Init(c, SecretIsNew()); err != nil {
		t.Fatal(err)
	}
	copied := copyOf(&s)
	batch := make([]Packet, lanes+1)
	for what, err := range map[string]error{
		"Seal": second(copied.Seal(nil, nil)), "Trailer": second(copied.Trailer(nil, nil)), "SealBatch": copied.SealBatch(batch), "Stop": copied.Stop(),
	} {
		if err != ErrCopied {
			t.Errorf("%s of a copy: %v", what, err)
		}
	}
	if SealBatch(slices.Repeat([]*UMACSender{copied}, len(batch)), batch) != 0 || batch[lanes].Err != ErrCopied || copied.Stats() != (SenderStats{}) {
		t.Errorf("a copy in a batch: %+v, %+v", batch, copied.Stats())
	}
	var deep func(n int) [1000]byte
	deep = func(n int) (b [1000]byte) {
		if n > 0 {
			b = deep(n - 1)
			b[n%len(b)]++
		}
		return b
	}
	for n := range 10 {
		deep(1 << n)
		mactest.Must(s.Seal(nil, nil))
	}
	if err := s.Init(c, SecretIsNew()); err != nil || s.Stop() != nil {
		t.Error("a sender that was set up again is a copy", err)
	}
}

// TestCountersGivenBack checks that an error of a constructor does not use up Counters.
func TestCountersGivenBack(t *testing.T) {
	wrong, window, n := misusePair(), misusePair(), NewSession(random(32))
	wrong.TagSize = 7
	window.Window = 7
	for _, c := range []Config{wrong, window} {
		if _, _, err := NewUMACPair(c, "a", "b", n); err == nil {
			t.Error("no error")
		}
	}
	to := misuseConfig()
	to.Sender, to.Receiver = "b", "a"
	if err := errors.Join(pairOf("a", "b", n), second(NewUMACReceiver(to, NewSession(n.session)))); err != nil {
		t.Error(err)
	}
	// A pair whose receiver fails has had no sender.
	m := NewSession(random(32))
	if err := second(NewUMACReceiver(to, m)); err != nil {
		t.Error(err)
	}
	if err := pairOf("a", "b", m); err == nil || !strings.Contains(err.Error(), "a receiver already") {
		t.Error(err)
	}
	if err := initSender(misuseConfig(), m); err != nil {
		t.Error(err)
	}
	// A session that is overwritten after the call is still the session.
	b := random(32)
	m = NewSession(b)
	if clear(b); initSender(misuseConfig(), m) != nil {
		t.Error("the session is not copied")
	}
}

// TestConfigEncoded checks that no encoder writes a Config, whatever it is in, that no decoder reads one, and that
// a log does not fail.
func TestConfigEncoded(t *testing.T) {
	c := misuseConfig()
	type inner struct{ C Config }
	type pointer struct{ C *Config }
	encoders := map[string]func(w io.Writer, v any) error{
		"JSON": func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) },
		"XML":  func(w io.Writer, v any) error { return xml.NewEncoder(w).Encode(v) },
		"gob":  func(w io.Writer, v any) error { return gob.NewEncoder(w).Encode(v) },
	}
	hides := func(what string, v any, text []byte) {
		t.Helper()
		for _, secret := range []string{string(c.Secret), base64.StdEncoding.EncodeToString(c.Secret), strings.Trim(fmt.Sprint(c.Secret), "[]"), hex.EncodeToString(c.Secret)} {
			if bytes.Contains(text, []byte(secret[:12])) {
				t.Errorf("%s of %T: %q", what, v, text)
			}
		}
	}
	for _, v := range []any{c, &c, inner{c}, &inner{c}, pointer{&c}, []Config{c}, []any{&c}, map[string]Config{"c": c}, map[*Config]int{&c: 1}, [1]*Config{&c}} {
		for what, encode := range encoders {
			var b bytes.Buffer
			if err := encode(&b, v); err == nil {
				t.Errorf("%s of %T: no error", what, v)
			}
			hides(what, v, b.Bytes())
		}
		var b bytes.Buffer
		for _, log := range []*slog.Logger{slog.New(slog.NewTextHandler(&b, nil)), slog.New(slog.NewJSONHandler(&b, nil))} {
			log.Info("m", "v", v)
		}
		fmt.Fprintf(&b, "%+v %#v %x", v, v, v)
		hides("a log", v, b.Bytes())
		if n := strings.Count(b.String(), "packet.Config"); reflect.Indirect(reflect.ValueOf(v)).Type() == reflect.TypeFor[Config]() && n != 5 {
			t.Errorf("a log of %T: %s", v, &b)
		}
	}
	for what, decode := range map[string]func(c *Config) error{
		"JSON":          func(c *Config) error { return json.Unmarshal([]byte(`{"Secret": "c2VjcmV0", "TagSize": 16}`), c) },
		"a JSON string": func(c *Config) error { return json.Unmarshal([]byte(`"secret"`), c) },
		"XML":           func(c *Config) error { return xml.Unmarshal([]byte(`<Config><TagSize>16</TagSize></Config>`), c) },
		"gob": func(c *Config) error {
			var b bytes.Buffer
			return errors.Join(gob.NewEncoder(&b).Encode(struct{ TagSize int }{16}), gob.NewDecoder(&b).Decode(c))
		},
		"gob of bytes": func(c *Config) error { return c.UnmarshalBinary([]byte("secret")) },
	} {
		var c Config
		if err := decode(&c); err == nil || c.Secret != nil || c.TagSize != 0 {
			t.Errorf("%s: %v, %d", what, err, c.TagSize)
		}
	}
}

// TestStoredAgain has two senders and two receivers from one value of Stored, which is right: each of them has
// counters of its own.
func TestStoredAgain(t *testing.T) {
	c, n := misuseConfig(), Stored(new(memory), new(memory))
	c.Ahead = 10
	var packets [][]byte
	for range 2 {
		s := newSender(packetref.UMAC128, c, n)
		for range 5 {
			packets = append(packets, mactest.Must(s.Seal(nil, nil)))
		}
	}
	accepted := make(map[uint64]bool)
	for range 2 {
		r := newReceiver(packetref.UMAC128, c, n)
		for _, p := range packets {
			_, counter, err := r.Open(p, nil)
			if r.settle(); err == nil && accepted[counter] {
				t.Errorf("counter %d is accepted twice", counter)
			}
			accepted[counter] = accepted[counter] || err == nil
		}
	}
	if first, second := packets[0], packets[5]; bytes.Equal(first, second) || len(accepted) != len(packets) {
		t.Errorf("%x and %x, %d counters of %d packets", first, second, len(accepted), len(packets))
	}
}
