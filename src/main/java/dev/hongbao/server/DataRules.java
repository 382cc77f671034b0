package dev.hongbao.server;

import dev.hongbao.common.config.ConfigException;
import dev.hongbao.common.config.ConfigFault;
import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.engine.embedded.EmbeddedServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What commands that only look ask of the data directory: a mistyped one must not be made, nor its absence pass for clean books. */
public final class DataRules {
    private static final String OPTION = "data.dir";
    private static final String MEANT = "name the one that the server uses with --data-dir or HONGBAO_DATA_DIR";

    private DataRules() {}

    /** @throws ConfigException when a store is to be embedded and the data directory has none */
    public static void requireData(HongbaoConfig config) {
        Path dir = config.engine().data().dir();
        boolean redis = config.engine().redis().isEmbedded();
        boolean postgres = config.engine().postgres().isEmbedded();
        if ((redis && !EmbeddedServers.hasRedisData(dir)) || (postgres && !EmbeddedServers.hasPostgresData(dir))) {
            String missing = redis && postgres ? "no data of a server" : redis ? "no Redis data" : "no Postgres data";
            throw fault(dir, "holds " + missing + "; " + MEANT);
        }
    }

    /** @throws ConfigException when the data directory is not there */
    public static void requireDirectory(HongbaoConfig config) {
        if (!Files.isDirectory(config.engine().data().dir())) {
            throw fault(config.engine().data().dir(), "does not exist; " + MEANT);
        }
    }

    private static ConfigException fault(Path dir, String problem) {
        return new ConfigException(
                List.of(new ConfigFault(OPTION, dir.toAbsolutePath().normalize().toString(), problem)));
    }
}
