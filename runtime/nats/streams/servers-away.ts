/** Which servers of a cluster are away, as the leader of a stream sees those with the other copies. */
import type { ClusterInfo, PeerInfo } from '@nats-io/jetstream'

/** After this long without a word from a server its copies count as away. */
const silentNanos = 10 * 1_000_000_000

/** @returns their names; none where the server is not in a cluster */
export const serversAway = (cluster: ClusterInfo | undefined): readonly string[] =>
  (cluster?.replicas ?? []).filter(isAway).map(({ name }) => name)

/**
 * A server that was killed is not `offline` to the others for minutes; until then its leaders only
 * know when they had its last answer (`active`, 0 if they never had one).
 */
const isAway = ({ offline, current, active }: PeerInfo): boolean =>
  offline === true || (!current && (active === 0 || active > silentNanos))
