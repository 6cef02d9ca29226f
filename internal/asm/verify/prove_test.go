package main

import ("testing"; "time")

func TestProve(t *testing.T) {
	p := linkedProgram(t)
	for _, x := range []proof{{"tagNext", "", proveNext},{"tagOnlyAVX2", "", proveOnly}} {
		for _, f := range p.find(x.kernels) {
			s := time.Now()
			v := newProver(p, f)
			n, err := x.prove(v)
			t.Log(f.name, n, err, len(v.nodes), time.Since(s))
			if err != nil { t.Fail() }
		}
	}
}
