import { identity } from './001-identity.ts';
import { system } from './002-system.ts';
import { links } from './003-links.ts';
import { networks } from './004-networks.ts';
import { dictionaries } from './005-dictionaries.ts';
import { certificates } from './006-certificates.ts';
import { files } from './007-files.ts';
import { applications } from './008-applications.ts';
import { tasks } from './009-tasks.ts';
import { agents } from './010-agents.ts';
import { runs } from './011-runs.ts';
import { ai } from './012-ai.ts';
import { cve } from './013-cve.ts';
import { malware } from './014-malware.ts';
import { attackResults } from './015-attack-results.ts';
import { campaigns } from './016-campaigns.ts';
import { harScripts } from './017-har-scripts.ts';
import { runDumps } from './018-run-dumps.ts';
import { scheduleDefinition } from './019-schedule-definition.ts';
import { runRows } from './020-run-rows.ts';
import { deliveries } from './021-deliveries.ts';
import { accessTokens } from './022-access-tokens.ts';
import { taskDevices } from './023-task-devices.ts';
import { attackChanges } from './025-attack-changes.ts';
import { listIndexes } from './026-list-indexes.ts';
import { applicationSource } from './027-application-source.ts';
import { runLeases } from './028-run-leases.ts';
import { sessionClient } from './029-session-client.ts';
import { signatureSources } from './030-signature-sources.ts';
import { samplePartitions } from './031-sample-partitions.ts';
import { runRollups } from './032-run-rollups.ts';
import { keptCounts } from './033-kept-counts.ts';
import { searchIndexes } from './034-search-indexes.ts';
import { agentHomes } from './035-agent-homes.ts';
import type { Migrating } from './create-table.ts';

/** In order; never changed once released, only added to. The schema version is their number. */
export const migrations: readonly ((m: Migrating) => Promise<void>)[] = [
  identity,
  system,
  links,
  networks,
  dictionaries,
  certificates,
  files,
  applications,
  tasks,
  agents,
  runs,
  ai,
  cve,
  malware,
  attackResults,
  campaigns,
  harScripts,
  runDumps,
  scheduleDefinition,
  runRows,
  deliveries,
  accessTokens,
  attackChanges,
  taskDevices,
  listIndexes,
  applicationSource,
  runLeases,
  sessionClient,
  signatureSources,
  samplePartitions,
  runRollups,
  keptCounts,
  searchIndexes,
  agentHomes,
];
