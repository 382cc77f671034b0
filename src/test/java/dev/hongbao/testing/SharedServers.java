package dev.hongbao.testing;

/** The servers of the integration tests. One per JVM; used by one test class at a time. */
interface SharedServers {
    /** A role that may create databases, and give them to {@link #ownerUrl}'s role. */
    String adminUrl();

    /** The role that owns the databases; the URL's own database does not matter. */
    String ownerUrl();

    /** The application's role; the URL's own database does not matter. */
    String appUrl();

    /** The fastest strategy for a copy. FILE_COPY takes a third of WAL_LOG's time, unless its files have to reach a disk. */
    String copyStrategy();

    /** A Redis with nothing in it, neither keys nor scripts. */
    TestRedis freshRedis();
}
