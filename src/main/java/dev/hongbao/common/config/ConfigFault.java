package dev.hongbao.common.config;

/**
 * A fault of the configuration.
 *
 * @param path the option's path, or the unknown name as given
 * @param origin the value's source: {@code conf/hongbao.yaml line 3}, {@code environment variable HONGBAO_HTTP_PORT},
 *     {@code flag --http-port}
 * @param problem the fault and the allowed values; without secrets
 */
public record ConfigFault(String path, String origin, String problem) {
    @Override
    public String toString() {
        return path + " (" + origin + "): " + problem;
    }
}
