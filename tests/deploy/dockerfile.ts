import { DockerfileParser, type Instruction } from 'dockerfile-ast';

/** What one stage of a Dockerfile does, without the stages it builds on. */
export interface Stage {
  readonly from: string;
  readonly run: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly user: string | undefined;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

const listIn = (text: string | null | undefined): string[] => {
  const start = text?.indexOf('[') ?? -1;
  return text && start >= 0 ? (JSON.parse(text.slice(start)) as string[]) : [];
};

const textOf = (instructions: readonly Instruction[], keyword: string) =>
  instructions
    .filter((instruction) => instruction.getKeyword() === keyword)
    .map((instruction) => instruction.getArgumentsContent() ?? '');

/** The stages of a Dockerfile by their names, read by a parser of that language. */
export const stagesOf = (text: string): Record<string, Stage> => {
  const file = DockerfileParser.parse(text);
  const stages: Record<string, Stage> = {};
  for (const from of file.getFROMs()) {
    const image = file.getContainingImage(from.getRange().start);
    const instructions = image?.getInstructions() ?? [];
    const variables = image?.getENVs().flatMap((env) => env.getProperties()) ?? [];
    stages[from.getBuildStage() ?? ''] = {
      from: from.getImage() ?? '',
      run: textOf(instructions, 'RUN').map((line) => line.replaceAll('\\\n', '')),
      env: Object.fromEntries(variables.map((property) => [property.getName(), property.getValue() ?? ''])),
      user: textOf(instructions, 'USER').at(-1),
      command: listIn(textOf(instructions, 'CMD').at(-1)),
      healthCheck: listIn(textOf(instructions, 'HEALTHCHECK').at(-1)),
    };
  }
  return stages;
};
