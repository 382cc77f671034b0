/**
 * What happens in a group, in one order for everyone: written only from settled facts, kept in Postgres, told by every
 * server. The writing half works on the persistence verticle's loop; one hub a server looks for events; each event loop has
 * its own followers. Cursors are a group's own; events of one group are never told out of order.
 */
@NullMarked
package dev.hongbao.domain.feed;

import org.jspecify.annotations.NullMarked;
