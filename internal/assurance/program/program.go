// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package program links the module's assembly and returns its functions, checked against their
// sources and Go declarations.
package program

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/json"
	"fmt"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/x86"
	"example.com/fastmac/internal/kernel/table"
)

// A Program is a linked binary: what the CPU executes, after avo, the Go assembler and the
// linker.
type Program struct {
	*machine.Architecture
	Functions []*machine.Function         // that are in .s files, and compute
	Choices   []*Choice                   // the others in .s files
	Declared  map[string]*types.Signature // in Go, by package and name
	Data      []section
	Symbols   []elf.Symbol      // of data
	begins    map[uint64]string // functions with the ABI of assembly, by address
	morestack uint64            // address of the function of the runtime for a larger stack
}

// A section is memory that the linker has initialized.
type section struct {
	Address  uint64
	Bytes    []byte
	Constant bool // the program cannot change it
}

// ModulePath is that of the root module.
const ModulePath = "example.com/fastmac"

// Architectures are those for which the module has assembly.
var Architectures = []*machine.Architecture{x86.Architecture, arm64.Architecture}

// Models returns those of an architecture.
func Models[W, V any](a *machine.Architecture) machine.Models[W, V] {
	if a == arm64.Architecture {
		return arm64.Models[W, V]{}
	}
	return x86.Models[W, V]{}
}

// Linked returns the program of package linked for an architecture. It is built once.
func Linked(a *machine.Architecture) (*Program, error) {
	if a == arm64.Architecture {
		return linkedARM64()
	}
	return linkedAMD64()
}

var (
	linkedAMD64 = sync.OnceValues(func() (*Program, error) { return Load(x86.Architecture, nil) })
	linkedARM64 = sync.OnceValues(func() (*Program, error) { return Load(arm64.Architecture, nil) })
)

// Load builds package linked for Linux and an architecture, and returns its assembly, with the
// contents of some .s files of the module, by their names in it, replaced. A function of a .s file of
// the module that is not in the binary is an error, and so is one that is in no .s file.
func Load(a *machine.Architecture, replaced map[string]string) (*Program, error) {
	dir, err := os.MkdirTemp("", "fastmac-verify-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "linked")
	root, err := Root()
	if err != nil {
		return nil, err
	}
	overlay, err := writeOverlay(dir, root, replaced)
	if err != nil {
		return nil, err
	}
	if _, err := Output(a, "go", "build", "-overlay", overlay, "-o", binary, ModulePath+"/internal/assurance/linked"); err != nil {
		return nil, err
	}
	sources, err := readSources(a, root, replaced)
	if err != nil {
		return nil, err
	}
	p, err := read(a, binary)
	if err != nil {
		return nil, err
	}
	if p.Declared, err = declarations(a, root); err != nil {
		return nil, err
	}
	if err := p.choose(); err != nil {
		return nil, err
	}
	var missing []string
	for _, s := range sources {
		if slices.ContainsFunc(p.Choices, func(c *Choice) bool { return c.Pkg == s.pkg && c.Name == s.name }) {
			continue
		}
		if !slices.ContainsFunc(p.Functions, func(f *machine.Function) bool { return f.Pkg == s.pkg && f.Name == s.name }) {
			missing = append(missing, s.name)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("not in the binary: %s: call them in package linked", strings.Join(missing, ", "))
	}
	for _, f := range p.Functions {
		i := slices.IndexFunc(sources, func(s source) bool { return f.Pkg == s.pkg && f.Name == s.name })
		if i < 0 {
			return nil, fmt.Errorf("%s is in no .s file", f.Name)
		}
		f.Frame = int64(sources[i].frame)
		switch {
		case a == x86.Architecture:
			if err := sources[i].compare(p, f); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			if err := x86.CheckReserved(f); err != nil {
				return nil, err
			}
			if f.Frame > 0 {
				f.Frame += 8
			}
		case f.Frame > 0 || slices.ContainsFunc(f.Code, func(i *machine.Instruction) bool { return i.Flow == machine.Call }):
			return nil, fmt.Errorf("%s: has a frame, or a call", f.Name)
		default:
			if err := arm64.CheckReserved(f); err != nil {
				return nil, err
			}
		}
		declared := p.Declared[f.Pkg+"."+f.Name]
		if declared == nil {
			return nil, fmt.Errorf("%s has no declaration in Go", f.Name)
		}
		f.Arguments, f.Results = words(declared.Params()), words(declared.Results())
		if size := int64(sources[i].arguments); (size+7)/8*8 != f.Arguments+f.Results {
			return nil, fmt.Errorf("%s: %d bytes of arguments and results, but %d are declared", f.Name, size, f.Arguments+f.Results)
		}
		if err := checkClasses(f); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Root returns the folder of the module.
func Root() (string, error) {
	root, err := Output(x86.Architecture, "go", "list", "-m", "-f", "{{.Dir}}", ModulePath)
	return strings.TrimSpace(root), err
}

// writeOverlay writes what the go command replaces in the module with the folder root.
func writeOverlay(dir, root string, replaced map[string]string) (string, error) {
	files := make(map[string]string)
	for name, content := range replaced {
		file := filepath.Join(dir, fmt.Sprint(len(files), ".s"))
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return "", err
		}
		files[filepath.Join(root, filepath.FromSlash(name))] = file
	}
	b, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, b, 0o600)
}

// read decodes the functions of the module in a binary that have the ABI of assembly.
func read(a *machine.Architecture, binary string) (*Program, error) {
	file, err := elf.Open(binary)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		return nil, err
	}
	p := &Program{Architecture: a}
	for _, s := range file.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Flags&elf.SHF_EXECINSTR == 0 && s.Type == elf.SHT_PROGBITS {
			b, err := s.Data()
			if err != nil {
				return nil, err
			}
			p.Data = append(p.Data, section{s.Addr, b, s.Flags&elf.SHF_WRITE == 0})
		}
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_OBJECT {
			p.Symbols = append(p.Symbols, s)
		}
		if s.Name == "runtime.morestack_noctxt.abi0" {
			p.morestack = s.Value
		}
	}
	compiled, err := Assembly(file)
	if err != nil {
		return nil, err
	}
	p.begins = make(map[uint64]string)
	for _, s := range symbols {
		if name, isAssembly := strings.CutSuffix(s.Name, ".abi0"); isAssembly && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			p.begins[s.Value] = name
		}
	}
	for _, c := range compiled {
		f, err := c.Decode(a)
		if err != nil {
			return nil, err
		}
		p.Functions = append(p.Functions, f)
	}
	slices.SortFunc(p.Functions, func(a, b *machine.Function) int { return strings.Compare(a.Pkg+"."+a.Name, b.Pkg+"."+b.Name) })
	return p, nil
}

// A Compiled is a function of assembly in a binary, for any architecture.
type Compiled struct {
	Pkg, Name string // example.com/fastmac, nhAddAVX2
	Address   uint64
	Offset    int64 // in the file
	Code      []byte
}

// Assembly returns the functions of the module in a binary that have the ABI of assembly, except for
// wrappers of portable ones.
func Assembly(file *elf.File) (functions []Compiled, err error) {
	symbols, err := file.Symbols()
	if err != nil {
		return nil, err
	}
	for _, s := range symbols {
		name, isAssembly := strings.CutSuffix(s.Name, ".abi0")
		inModule := strings.HasPrefix(name, ModulePath+".") || strings.HasPrefix(name, ModulePath+"/")
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || !isAssembly || !inModule || strings.HasSuffix(name, portable) {
			continue
		}
		section := file.Sections[s.Section]
		start, dot := int64(s.Value-section.Addr), strings.LastIndexByte(name, '.')
		c := Compiled{name[:dot], name[dot+1:], s.Value, int64(section.Offset) + start, make([]byte, s.Size)}
		if _, err := section.ReadAt(c.Code, start); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		functions = append(functions, c)
	}
	return functions, nil
}

// Decode returns the instruction at the beginning of code, which is at an address.
func Decode(a *machine.Architecture, at uint64, code []byte) (*machine.Instruction, error) {
	if a == arm64.Architecture {
		return arm64.Decode(at, code)
	}
	return x86.Decode(at, code)
}

// Decode returns a function. All its bytes must be instructions. Only jumps without a condition may leave it.
func (c Compiled) Decode(a *machine.Architecture) (*machine.Function, error) {
	f := &machine.Function{Architecture: a, Pkg: c.Pkg, Name: c.Name, At: make(map[uint64]int)}
	for address, code := c.Address, c.Code; len(code) > 0; {
		i, err := Decode(a, address, code)
		if err != nil {
			return nil, fmt.Errorf("%s: %#x: % x: %w", c.Name, address, code[:min(len(code), 15)], err)
		}
		f.At[address] = len(f.Code)
		f.Code = append(f.Code, i)
		address += uint64(len(i.Bytes))
		code = code[len(i.Bytes):]
	}
	for _, i := range f.Code {
		if _, ok := f.At[i.Target]; !i.Jumps() || ok {
			continue
		}
		if i.Flow == machine.Branch {
			return nil, fmt.Errorf("%s: %v jumps out of the function", c.Name, i)
		}
		i.Flow = machine.Leave
	}
	if a == arm64.Architecture {
		return f, arm64.Complete(f)
	}
	return f, nil
}

// Row returns the row of a function in the table of kernels. Each function of a Program has one.
func Row(f *machine.Function) (table.Function, error) {
	folder := strings.TrimPrefix(strings.TrimPrefix(f.Pkg, ModulePath), "/")
	return table.Find(f.Architecture.Name, cmp.Or(folder, "."), f.Name)
}

// classes are those of the table by their names there. Those of arm64 have the same.
var classes = map[string]machine.Class{"AVX2": x86.AVX2, "AVX512": x86.AVX512, "VAES": x86.VAES, "SHA": x86.SHA}

// checkClasses returns an error if a function has an instruction of a class that its row does not have.
func checkClasses(f *machine.Function) error {
	row, err := Row(f)
	if err != nil {
		return err
	}
	may := []machine.Class{x86.SSE}
	for _, name := range row.Classes {
		may = append(may, cmp.Or(classes[name], machine.Class(name)))
	}
	for _, c := range f.Needs() {
		if !slices.Contains(may, c) {
			return fmt.Errorf("%s: has an instruction of %s, which its row of internal/kernel/table does not have", f.Name, c)
		}
	}
	return nil
}

// Find returns the functions whose names begin with a prefix.
func (p *Program) Find(prefix string) (found []*machine.Function) {
	for _, f := range p.Functions {
		if strings.HasPrefix(f.Name, prefix) {
			found = append(found, f)
		}
	}
	return found
}

// At returns the datum that has an address.
func (p *Program) At(address uint64) (d algebra.Datum) {
	symbol := p.symbol(address)
	d.Address, d.Bytes = symbol.Value, make([]byte, symbol.Size)
	for _, s := range p.Data {
		if s.Address <= d.Address && d.Address < s.Address+uint64(len(s.Bytes)) {
			d.Constant = copy(d.Bytes, s.Bytes[d.Address-s.Address:]) == len(d.Bytes) && s.Constant
		}
	}
	return d
}

// symbol returns the symbol of the datum that has an address. Without one, it is empty and there.
func (p *Program) symbol(address uint64) elf.Symbol {
	for _, s := range p.Symbols {
		if s.Value <= address && address < s.Value+s.Size {
			return s
		}
	}
	return elf.Symbol{Value: address}
}

// Output returns what a command prints. What it builds is for Linux and an architecture.
func Output(a *machine.Architecture, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = environment(a)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}

// environment is that of commands: whatever the machine, they are about Linux and an architecture.
func environment(a *machine.Architecture) []string {
	return append(os.Environ(), "GOOS=linux", "GOARCH="+a.Name, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0")
}
