package dev.hongbao.common.config;

/**
 * One thing wrong with the configuration.
 *
 * @param path the option's path, or the unknown name as it was given
 * @param origin where it came from: {@code conf/hongbao.yaml line 3}, {@code environment variable HONGBAO_HTTP_PORT},
 *     {@code flag --http-port}
 * @param problem what is wrong and what is allowed; without secrets
 */
public record ConfigFault(String path, String origin, String problem) {
    @Override
    public String toString() {
        return path + " (" + origin + "): " + problem;
    }
}
