import type { AiKeyFacts } from '../../caller.ts';

/** May the key see something of this project? Without a bound it may see all. */
export const seesProject = ({ constraints: { projectIDs } }: AiKeyFacts, projectID: number | null) =>
  projectIDs === undefined || (projectID !== null && projectIDs.includes(projectID));

export const seesAgent = ({ constraints: { agentIDs } }: AiKeyFacts, agentID: number) =>
  agentIDs === undefined || agentIDs.includes(agentID);
