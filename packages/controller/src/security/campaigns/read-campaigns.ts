import { CampaignDraft, campaignActions } from '@rushhour/contract';
import { createSchemaCheck } from '../../schema-check.ts';
import { listOf, type Members, membersOf, textOf } from '../signatures/import/members.ts';
import { readYamlDocuments } from '../signatures/import/read-yaml.ts';
import { Refusal } from '../signatures/import/template.ts';
import { calderaIn, stepsOfAdversary } from './caldera.ts';
import { completeStep, type StepDraft } from './campaign-script.ts';

/** A campaign as it was written in a file. */
interface WrittenCampaign extends Pick<CampaignDraft, 'name' | 'steps'> {
  readonly parameters: NonNullable<CampaignDraft['parameters']>;
  /** Parts that have no traffic. */
  readonly leftOut: readonly string[];
}

export type ReadCampaigns = { readonly campaigns: readonly WrittenCampaign[] } | { readonly problem: string };

const check = createSchemaCheck(CampaignDraft, 'first');
const maxCampaigns = 20;

/** Campaigns in a file: YAML of our own, one document each, or adversaries of Caldera with their abilities. */
export const readCampaigns = (bytes: Buffer): ReadCampaigns => {
  try {
    const documents = readYamlDocuments(bytes);
    const caldera = calderaIn(documents);
    const campaigns = caldera
      ? caldera.adversaries.map((adversary) => written(adversary, stepsOfAdversary(adversary, caldera)))
      : documents.map((document) => ownOf(membersOf(document)));
    if (campaigns.length === 0) throw new Refusal('it holds no campaign');
    if (campaigns.length > maxCampaigns) throw new Refusal(`it holds more than ${maxCampaigns} campaigns`);
    return { campaigns };
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.message };
    throw error;
  }
};

/** A step needs its action only: everything else has the value that the action usually has. */
const ownOf = (document: Members): WrittenCampaign => {
  const steps = listOf(document['steps']).map(membersOf);
  const unknown = steps.find(({ action }) => !(campaignActions as readonly unknown[]).includes(action));
  if (steps.length === 0) throw new Refusal('a campaign has no steps');
  if (unknown !== undefined) throw new Refusal(`the action ${textOf(unknown['action']).slice(0, 40)} is not known`);
  return written(document, { steps: steps as unknown as StepDraft[], leftOut: [] });
};

const written = (
  { name, description, parameters }: Members,
  { steps, leftOut }: { readonly steps: readonly StepDraft[]; readonly leftOut: readonly string[] },
): WrittenCampaign => {
  const draft = {
    name: textOf(name).slice(0, 128) || 'campaign',
    description: textOf(description).slice(0, 4096),
    parameters: listOf(parameters).map((one) => completeParameter(membersOf(one))) as WrittenCampaign['parameters'],
    steps: steps.map(completeStep),
  };
  const [issue] = check(draft);
  if (issue) throw new Refusal(`${issue.path} ${issue.message}`);
  return { name: draft.name, parameters: draft.parameters, steps: draft.steps, leftOut };
};

const completeParameter = ({ type = 'string', min = '', max = '', description = '', ...given }: Members): unknown => ({
  ...given,
  ...{ type, min: textOf(min), max: textOf(max), description, default: textOf(given['default']) },
});
