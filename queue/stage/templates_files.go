package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"

	"qrunner/lists/templates"
	"qrunner/locking/fsys"
)

// templateRoot is where a site's own templates lie, from the share's root.
const templateRoot = "templates"

// WriteTemplate puts a template on the share, in the place of an older one. Other hosts
// see it within half a minute.
func WriteTemplate(f fsys.FS, name, text string) error {
	if err := fsys.MkdirAll(f, path.Dir(name)); err != nil {
		return fmt.Errorf("write template: %w", err)
	}
	temp := path.Join(path.Dir(name), fmt.Sprintf(".new.%016x", rand.Uint64()))
	err := fsys.WriteNew(f, temp, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err == nil {
		err = fsys.Publish(f, temp, name, fsys.ByRename)
	}
	if err != nil {
		_ = fsys.RemoveAny(f, temp)
		return fmt.Errorf("write template: %w", err)
	}
	return nil
}

// RemoveTemplate takes a template off the share; fs.ErrNotExist if there is none.
func RemoveTemplate(f fsys.FS, name string) error {
	if err := f.Remove(name); err != nil {
		return fmt.Errorf("remove template: %w", err)
	}
	return nil
}

// CheckedTemplate is a file below templates/ and what is wrong with it.
type CheckedTemplate struct {
	File    string `json:"file"`
	Problem string `json:"problem,omitempty"`
}

// CheckTemplates looks at every template on the share, in order of their names.
func CheckTemplates(ctx context.Context, f fsys.FS) ([]CheckedTemplate, error) {
	out := []CheckedTemplate{}
	err := walkTemplates(ctx, f, templateRoot, &out)
	return out, err
}

// maxFolders is how deep templates lie: templates/domains/<domain>/<language>.
const maxFolders = 4

func walkTemplates(ctx context.Context, f fsys.FS, dir string, out *[]CheckedTemplate) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	list, err := f.ReadDir(dir)
	if fsys.Gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range list {
		name := path.Join(dir, e.Name)
		switch {
		case strings.HasPrefix(e.Name, "."):
		case e.Type == fs.ModeDir && strings.Count(name, "/") < maxFolders:
			if err := walkTemplates(ctx, f, name, out); err != nil {
				return err
			}
		default:
			*out = append(*out, CheckedTemplate{name, problem(f, name)})
		}
	}
	return nil
}

// problem says why a file is no template that anybody gets to see.
func problem(f fsys.FS, name string) string {
	base, ok := strings.CutSuffix(path.Base(name), ".txt")
	parts := strings.Split(name, "/")
	if len(parts) != 4 && (len(parts) != 5 || parts[1] == string(templates.SiteScope)) {
		return "not where templates lie: templates/site/<language>, templates/domains/<domain>/<language>, templates/lists/<list>/<language>"
	}
	if !ok {
		return "its name does not end in .txt"
	}
	text, err := TemplateFiles(f)(name)
	if err == nil {
		err = templates.Check(templates.Name(base), text)
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil {
		return ""
	}
	return err.Error()
}
