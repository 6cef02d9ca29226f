// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package program

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/packages"
)

var Layout = types.SizesFor("gc", "amd64")

// Declarations returns those of all functions without a body, by package and name.
func Declarations() (map[string]*types.Signature, error) {
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedImports,
		Env:  environment(),
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
				if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil {
					found[p.PkgPath+"."+f.Name.Name] = p.TypesInfo.Defs[f.Name].(*types.Func).Signature()
				}
			}
		}
	}
	return found, nil
}
