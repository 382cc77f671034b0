/**
 * The refusal of claims and plays that cannot settle in time.
 *
 * <p>The server has one {@link AdmissionControl}. A tick measures each shard's rate and sets the bound of its backlog. Each event
 * loop has a gate for its claims and one for its plays. An attempt asks its gate before it calls the script, and is admitted or
 * refused at once.
 *
 * <p>The attempts of the domain call the gates; the server calls the tick. A gate never waits and never calls a store. A refused
 * attempt has changed nothing. Begin with {@link AdmissionControl}.
 */
@NullMarked
package dev.hongbao.engine.admission;

import org.jspecify.annotations.NullMarked;
