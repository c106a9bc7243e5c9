import { Command } from 'commander';
import { UsageError } from './exit-codes.ts';
import { write } from './output/print.ts';

const scripts: Readonly<Record<string, string>> = {
  bash: `_rushhour() {
  local IFS=$'\\n'
  COMPREPLY=($(rushhour complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [ "\${#COMPREPLY[@]}" -gt 0 ] || compopt -o default
}
complete -F _rushhour rushhour
`,
  zsh: `#compdef rushhour
_rushhour() {
  local -a found
  found=("\${(@f)$(rushhour complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
if [[ "\${funcstack[1]}" = _rushhour ]]; then _rushhour "$@"; else compdef _rushhour rushhour; fi
`,
  fish: `function __rushhour_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (rushhour complete -- $words[2..] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c rushhour -f -a '(__rushhour_complete)'
`,
};

/** Prints the script that teaches a shell to complete; the candidates come from this program. */
export const completionCommand = (): Command =>
  new Command('completion')
    .description('a script that completes commands and options in a shell')
    .argument('<shell>', Object.keys(scripts).join(', '))
    .addHelpText(
      'after',
      `\nExamples:
  source <(rushhour completion bash)
  rushhour completion zsh > "\${fpath[1]}/_rushhour"
  rushhour completion fish > ~/.config/fish/completions/rushhour.fish`,
    )
    .action(async (shell: string) => {
      const script = scripts[shell];
      if (script === undefined)
        throw new UsageError(`there is no completion for ${shell}: ${Object.keys(scripts).join(', ')}`);
      await write(script);
    });

/** What may follow the words before: names of commands, options, or values of the option before. */
const candidatesFor = (root: Command, words: readonly string[]): readonly string[] => {
  const [last = '', before = ''] = [words.at(-1), words.at(-2)];
  let command = root;
  for (const word of words.slice(0, -1)) command = command.commands.find((one) => one.name() === word) ?? command;
  const options = command.options.filter(({ hidden }) => !hidden);
  const option = options.find(({ long, short }) => before !== '' && (before === long || before === short));
  if (option && !option.isBoolean() && !option.optional)
    return (option.argChoices ?? []).filter((c) => c.startsWith(last));
  const names = command.commands.filter((one) => !('_hidden' in one && one._hidden)).map((one) => one.name());
  const flags = [...options.flatMap(({ long }) => long ?? []), '--help'];
  return (last.startsWith('-') || names.length === 0 ? flags : names).filter((name) => name.startsWith(last));
};

/** The program behind the scripts: the words typed so far, the last one unfinished. */
export const completeCommand = (root: Command): Command =>
  new Command('complete')
    .argument('[words...]')
    .allowUnknownOption()
    .action((words: string[]) =>
      write(
        candidatesFor(root, words)
          .map((name) => `${name}\n`)
          .join(''),
      ),
    );
