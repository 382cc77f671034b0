package dev.hongbao.tools.bench.article;

import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.tools.bench.article.Strategy.Grant;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** The tables of a design: claims, wallets and the packet, without a unique constraint, as in the articles. @param name stands in SQL text */
record ArticleTable(String name, PostgresAddress address) {
    /** A connection without auto-commit. */
    Connection connect() throws SQLException {
        Connection connection = DriverManager.getConnection(
                address.jdbcUrl(), address.login().user(), address.login().password());
        connection.setAutoCommit(false);
        return connection;
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql.replace("%", name));
            connection.commit();
        }
    }

    void create() throws SQLException {
        execute("""
                create table %_claim (member int not null, share text not null, amount bigint not null);
                create table %_wallet (member int primary key, balance bigint not null);
                create table %_packet (id int primary key, claimed int not null);
                insert into %_packet values (1, 0)""");
    }

    void drop() throws SQLException {
        execute("drop table if exists %_claim, %_wallet, %_packet");
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
        List<Grant> grants = new ArrayList<>();
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select member, share, amount from " + name + "_claim")) {
            while (rows.next()) {
                grants.add(new Grant(rows.getInt(1), rows.getString(2), rows.getLong(3)));
            }
        }
        return grants;
    }
}
