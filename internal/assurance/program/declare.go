// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package program

import (
	"go/ast"
	"go/types"
	"strings"
	"sync"

	"example.com/fastmac/internal/assurance/machine"
	"golang.org/x/tools/go/packages"
)

// Layout is that of data.
var Layout = types.SizesFor("gc", "amd64")

// words returns the size of arguments or results, of whole words.
func words(list *types.Tuple) (size int64) {
	for v := range list.Variables() {
		align := Layout.Alignof(v.Type())
		size = (size+align-1)/align*align + Layout.Sizeof(v.Type())
	}
	return (size + 7) / 8 * 8
}

// declared has what declarations has found, by architecture and folder: it is in Go files, which Load does not replace.
var declared sync.Map

// declarations returns those of all functions without a body and of portable ones in the module with the folder
// root, by package and name.
func declarations(a *machine.Architecture, root string) (map[string]*types.Signature, error) {
	if found, ok := declared.Load([2]string{a.Name, root}); ok {
		return found.(map[string]*types.Signature), nil
	}
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedImports,
		Env:  environment(a),
	}, ModulePath, ModulePath+"/internal/...")
	if err != nil {
		return nil, err
	}
	found := make(map[string]*types.Signature)
	for _, p := range all {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && (f.Body == nil || f.Recv == nil && strings.HasSuffix(f.Name.Name, portable)) {
					found[p.PkgPath+"."+f.Name.Name] = p.TypesInfo.Defs[f.Name].(*types.Func).Signature()
				}
			}
		}
	}
	declared.Store([2]string{a.Name, root}, found)
	return found, nil
}
