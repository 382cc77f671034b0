package dev.hongbao.tools.bench.article;

import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.tools.bench.article.Strategy.Grant;
import dev.hongbao.tools.local.Jdbc;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/** The tables of a design: claims, wallets and the packet, without a unique constraint, as in the articles. @param name stands in SQL text */
record ArticleTable(String name, PostgresAddress address) {
    /** A connection without auto-commit. */
    Connection connect() throws SQLException {
        Connection connection = Jdbc.connect(address);
        connection.setAutoCommit(false);
        return connection;
    }

    void create() throws SQLException {
        Jdbc.execute(address, """
                create table %_claim (member int not null, share text not null, amount bigint not null);
                create table %_wallet (member int primary key, balance bigint not null);
                create table %_packet (id int primary key, claimed int not null);
                insert into %_packet values (1, 0)""".replace("%", name));
    }

    void drop() throws SQLException {
        Jdbc.execute(address, "drop table if exists %_claim, %_wallet, %_packet".replace("%", name));
    }

    private void update(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.replace("%", name))) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            statement.executeUpdate();
        }
    }

    void insert(Connection connection, Grant grant) throws SQLException {
        update(connection, "insert into %_claim values (?, ?, ?)", grant.user(), grant.share(), grant.amount());
    }

    void pay(Connection connection, Grant grant) throws SQLException {
        update(
                connection,
                "insert into %_wallet as w values (?, ?)"
                        + " on conflict (member) do update set balance = w.balance + excluded.balance",
                grant.user(),
                grant.amount());
        update(connection, "update %_packet set claimed = claimed + 1 where id = 1");
    }

    List<Grant> grants() throws SQLException {
        return Jdbc.rows(address, "select member, share, amount from " + name + "_claim").stream()
                .map(row -> new Grant(Integer.parseInt(row.get(0)), row.get(1), Long.parseLong(row.get(2))))
                .toList();
    }
}
