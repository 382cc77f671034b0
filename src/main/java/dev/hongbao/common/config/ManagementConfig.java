package dev.hongbao.common.config;

/**
 * The listener for health checks and metrics.
 *
 * @param port 0 takes a free one
 */
public record ManagementConfig(String host, int port) {
    public ManagementConfig {
        Options.MANAGEMENT_HOST.require(host);
        Options.MANAGEMENT_PORT.require(port);
    }

    static ManagementConfig from(OptionValues values) {
        return new ManagementConfig(values.get(Options.MANAGEMENT_HOST), values.get(Options.MANAGEMENT_PORT));
    }
}
