package dev.hongbao.tools.build;

import dev.hongbao.engine.embedded.EmbeddedOptions;
import dev.hongbao.engine.embedded.EmbeddedPostgres;
import dev.hongbao.engine.postgres.Migrations;
import dev.hongbao.engine.postgres.Postgres;
import dev.hongbao.engine.postgres.PostgresAddress;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.nio.file.Path;

/**
 * Makes the Postgres cluster that a first start unpacks, so that it need not run {@code initdb} and Flyway itself: most of
 * two seconds. Its roles have no passwords, so nobody can log in.
 */
public final class ClusterTemplate {
    private ClusterTemplate() {}

    /** @param args a directory that is not there; the cluster is in {@code postgres} below it */
    public static void main(String[] args) {
        EmbeddedOptions options = EmbeddedOptions.defaults().withTemplate(false);
        Vertx vertx = Vertx.vertx();
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(Path.of(args[0]), options)) {
            PostgresAddress owner = PostgresAddress.of(postgres.ownerUrl());
            PostgresAddress app = PostgresAddress.of(postgres.appUrl());
            Migrations.run(vertx, pool(vertx, app), owner, app)
                    .compose(migrated -> pool(vertx, PostgresAddress.of(postgres.adminUrl()))
                            .query("update pg_authid set rolpassword = null where rolpassword is not null")
                            .execute())
                    .await();
        } finally {
            vertx.close().await();
        }
    }

    private static Pool pool(Vertx vertx, PostgresAddress address) {
        return new Postgres(vertx, address).pool("build", 4, 100, Postgres.LONG);
    }
}
