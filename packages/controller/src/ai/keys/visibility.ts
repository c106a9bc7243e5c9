import type { AiKeyFacts } from '../../caller.ts';

/** Is this project visible to the key? A key without constraints sees all projects. */
export const seesProject = ({ constraints: { projectIDs } }: AiKeyFacts, projectID: number | null) =>
  projectIDs === undefined || (projectID !== null && projectIDs.includes(projectID));

export const seesAgent = ({ constraints: { agentIDs } }: AiKeyFacts, agentID: number) =>
  agentIDs === undefined || agentIDs.includes(agentID);
