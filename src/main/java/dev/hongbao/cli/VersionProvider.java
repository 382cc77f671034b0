package dev.hongbao.cli;

import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest; {@code development} when run from classes. */
final class VersionProvider implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {"Hongbao " + version()};
    }

    static String version() {
        String version = VersionProvider.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
