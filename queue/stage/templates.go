package stage

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"qrunner/lists"
	"qrunner/lists/templates"
	"qrunner/locking/fsys"
)

// TemplateFiles reads the templates that lie on the share, for templates.Set.
func TemplateFiles(f fsys.FS) func(name string) (string, error) {
	return func(name string) (string, error) {
		data, err := fsys.ReadFile(f, name, templates.MaxSize)
		if errors.Is(err, fsys.ErrTooLarge) || errors.Is(err, syscall.EISDIR) {
			err = fmt.Errorf("%w: %w", templates.ErrUnreadable, err)
		}
		return string(data), err
	}
}

// withTemplates fills Templates in.
func (c Config) withTemplates() Config {
	if c.Templates == nil {
		c.Templates = &templates.Set{SiteEmail: string(c.SiteOwner)}
		if c.FS != nil {
			c.Templates.Read = TemplateFiles(c.FS)
		}
	}
	return c
}

// displayName is the list's name for people.
func displayName(l *lists.List) string {
	if name := l.Settings.Text("display_name"); name != "" {
		return name
	}
	local := l.ID.Local()
	return strings.ToUpper(local[:1]) + local[1:]
}
