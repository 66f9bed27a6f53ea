package main

type bounceCmd struct {
	Scan bounceScanCmd `cmd:"" help:"What would be found in these messages; nothing is changed, no configuration is needed."`
}
