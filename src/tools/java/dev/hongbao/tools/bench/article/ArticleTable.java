package dev.hongbao.tools.bench.article;

import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.tools.bench.article.Strategy.Grant;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * The table of claims of a strategy, and what belongs to it; without a unique constraint, as in the articles. Its name is this
 * program's own word, so that it may stand in SQL text.
 */
record ArticleTable(String name, PostgresAddress address) {
    /** A connection without auto-commit. */
    Connection connect() throws SQLException {
        Connection connection = DriverManager.getConnection(
                address.jdbcUrl(), address.login().user(), address.login().password());
        connection.setAutoCommit(false);
        return connection;
    }

    private void execute(String... statements) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
            connection.commit();
        }
    }

    /** Makes it, empty. */
    void clear() throws SQLException {
        drop();
        execute(
                "create table " + name + "_claim (member int not null, share text not null, amount bigint not null)",
                "create table " + name + "_wallet (member int primary key, balance bigint not null)",
                "create table " + name + "_packet (id int primary key, claimed int not null)",
                "insert into " + name + "_packet values (1, 0)");
    }

    void drop() throws SQLException {
        execute("drop table if exists " + name + "_claim, " + name + "_wallet, " + name + "_packet");
    }

    PreparedStatement insert(Connection connection) throws SQLException {
        return connection.prepareStatement("insert into " + name + "_claim values (?, ?, ?)");
    }

    static void set(PreparedStatement insert, Grant grant) throws SQLException {
        insert.setInt(1, grant.user());
        insert.setString(2, grant.share());
        insert.setLong(3, grant.amount());
    }

    PreparedStatement pay(Connection connection) throws SQLException {
        return connection.prepareStatement("insert into " + name + "_wallet as w values (?, ?)"
                + " on conflict (member) do update set balance = w.balance + excluded.balance");
    }

    PreparedStatement count(Connection connection) throws SQLException {
        return connection.prepareStatement("update " + name + "_packet set claimed = claimed + 1 where id = 1");
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
