package lists

import "errors"

// ErrNoList: there is certainly no such list. Only a fresh look at a share that is
// proven to be the right one gives it; any doubt is another error.
var ErrNoList = errors.New("no such list")
