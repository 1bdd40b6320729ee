package main

import (
	"context"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Runs `pulumi up` with the program, in the project directory of the first argument.
func runInline(program pulumi.RunFunc) {
	ctx := context.Background()
	if err := up(ctx, program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func up(ctx context.Context, program pulumi.RunFunc) error {
	workspace, err := auto.NewLocalWorkspace(ctx, auto.WorkDir(os.Args[1]), auto.Program(program))
	if err != nil {
		return err
	}
	stack, err := auto.SelectStack(ctx, "dev", workspace)
	if err != nil {
		return err
	}
	_, err = stack.Up(ctx, optup.ProgressStreams(os.Stdout))
	return err
}
