package dev.hongbao;

import dev.hongbao.cli.Hongbao;

/** The jar's entry. */
public final class Main {
    private Main() {}

    /** Runs a command and ends the process with its exit code. */
    public static void main(String[] args) {
        System.exit(Hongbao.run(args));
    }
}
