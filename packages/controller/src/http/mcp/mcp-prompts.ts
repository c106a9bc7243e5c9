import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server';

/** What an assistant must know before its first call. */
export const instructions = `Rushhour tests networks: agents send traffic through a device under test, and the controller judges the results.
Begin with whoami (rights and limits of this key) and overview. resources_search finds networks, files, templates and projects;
agents_list finds agents; schema_get has the members of a task with examples.
To make a test: draft_create (best from a template), draft_update, task_validate until nothing is wrong, task_create.
To run it: task_start_request, then do what nextStep of the answer says. A person may have to approve: show them reviewUrl and
wait with approval_get. Never start traffic that nobody asked for.
To judge a run read task_report first, then task_results. status is how it ended, verdict whether its thresholds held, validity
whether the result can be trusted: with a doubtful validity say so, and why. Durations are in microseconds, rates per second.`;

interface PromptSpec {
  readonly title: string;
  readonly description: string;
  /** Arguments with their descriptions; all must be given. */
  readonly args: Readonly<Record<string, string>>;
  readonly text: (given: Readonly<Record<string, string>>) => string;
}

/** The common flows, offered by clients as commands. */
const prompts: Readonly<Record<string, PromptSpec>> = {
  plan_test: {
    title: 'Plan a test',
    description: 'Turns a goal into a validated draft of a task, without starting it',
    args: { goal: 'What is to be found out, such as: does the firewall pass 10,000 HTTP requests per second' },
    text: ({ goal }) =>
      `Plan a test for this goal: ${goal}\nRead whoami, overview and agents_list. Choose a template with resources_search, make a draft, set the agents, the load, the duration and thresholds that decide the goal, and call task_validate until nothing is wrong. Then show me the draft, its estimate and its risk. Do not start it.`,
  },
  explain_result: {
    title: 'Explain a result',
    description: 'Says what the last run of a task shows, and whether it can be trusted',
    args: { task: 'Id of the task' },
    text: ({ task }) =>
      `Explain the last run of task ${task}. Read task_report, task_results and task_events. Say first whether the thresholds held and whether the result is valid, then the figures that matter, then the likely cause of anything unusual and what to test next. Do not guess where the data does not say.`,
  },
  compare_runs: {
    title: 'Compare two runs',
    description: 'Says what changed between two runs of a task',
    args: { task: 'Id of the task', baseline: 'Id of the run to compare the last one with' },
    text: ({ task, baseline }) =>
      `Compare the last run of task ${task} with run ${baseline}: call task_results with baseline ${baseline}. List the metrics that differ by more than 5 %, which direction is better for each, and whether both runs are valid. Say if their definitions differ, because then the runs are not comparable.`,
  },
};

const schemaOf = ({ args }: PromptSpec) =>
  fromJsonSchema<Record<string, string>>({
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(args).map(([name, description]) => [name, { type: 'string', description }]),
    ),
    required: Object.keys(args),
  });

export const registerPrompts = (server: McpServer) => {
  for (const [name, spec] of Object.entries(prompts)) {
    const { title, description, text } = spec;
    server.registerPrompt(name, { title, description, argsSchema: schemaOf(spec) }, (given) => ({
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text: text(given) } }],
    }));
  }
};
