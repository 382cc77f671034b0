package dev.hongbao.testing;

/** Where the integration tests get their servers from. One per JVM; used by one test class at a time. */
interface SharedServers {
    /** A role that may create databases, and give them to {@link #ownerUrl}'s role. */
    String adminUrl();

    /** The role that owns the databases; the URL's own database does not matter. */
    String ownerUrl();

    /** The application's role; the URL's own database does not matter. */
    String appUrl();

    /** How a database is copied the fastest: FILE_COPY takes a third of WAL_LOG, unless its files have to reach a disk. */
    String copyStrategy();

    /** A Redis with nothing in it, neither keys nor scripts. */
    TestRedis freshRedis();
}
