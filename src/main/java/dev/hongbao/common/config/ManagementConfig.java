package dev.hongbao.common.config;

/**
 * The listener for health checks and metrics.
 *
 * @param address where it listens
 */
public record ManagementConfig(ListenAddress address) {
    public ManagementConfig {
        Options.MANAGEMENT_HOST.require(address.host());
        Options.MANAGEMENT_PORT.require(address.port());
    }

    static ManagementConfig from(OptionValues values) {
        return new ManagementConfig(
                new ListenAddress(values.get(Options.MANAGEMENT_HOST), values.get(Options.MANAGEMENT_PORT)));
    }
}
