import { defineCommand, type Command, type CommandOption } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { commands, commonOptions } from './commands.ts';

/** A command as a shell completes it. */
interface Completed {
  /** One word, or two: `keys new`. */
  readonly name: string;
  readonly summary: string;
  readonly options: readonly (readonly [name: string, option: CommandOption])[];
}

const shells: { readonly [shell: string]: (all: readonly Completed[]) => string } = {
  bash,
  zsh,
  fish,
};

export const completion: Command = defineCommand({
  parameters: ['shell'],
  options: {},
  example: 'source <(mcp-saga completion bash)',
  run: async (_values, [shell = '']) => {
    const script = shells[shell];
    if (script === undefined)
      throw new CliError(
        'usage',
        `completion ${shell}: expected ${Object.keys(shells).join(', ')}.`,
      );
    const all = await Promise.all(
      commands.map(async ({ name, summary, load }) => {
        const { options } = await load();
        return { name, summary, options: Object.entries({ ...options, ...commonOptions }) };
      }),
    );
    const text = script(all);
    return { text, isAsIs: true, json: { shell, script: text } };
  },
});

/** First words of all commands, and second words by their first one. */
function wordsOf(all: readonly Completed[]): {
  readonly first: readonly string[];
  readonly second: ReadonlyMap<string, readonly string[]>;
} {
  const second = new Map<string, readonly string[]>();
  for (const { name } of all) {
    const [one = '', two] = name.split(' ');
    if (two !== undefined) second.set(one, [...(second.get(one) ?? []), two]);
  }
  return { first: [...new Set(all.map(({ name }) => name.replace(/ .*/, '')))], second };
}

function bash(all: readonly Completed[]): string {
  const { first, second } = wordsOf(all);
  return `_mcp_saga() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  COMPREPLY=()
  if [[ $COMP_CWORD == 1 ]]; then
    words="${[...first, 'help'].join(' ')}"
${[...second]
  .map(
    ([one, two]) => `  elif [[ $COMP_CWORD == 2 && \${COMP_WORDS[1]} == ${one} ]]; then
    words="${two.join(' ')}"
`,
  )
  .join('')}  elif [[ $current == -* ]]; then
    case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${all.map(({ name, options }) => `      "${name}"${name.includes(' ') ? '' : '\\ *'}) words="${options.map(([option]) => `--${option}`).join(' ')}" ;;\n`).join('')}    esac
  fi
  if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
}
complete -o default -F _mcp_saga mcp-saga`;
}

function zsh(all: readonly Completed[]): string {
  const { first, second } = wordsOf(all);
  const summaryOf = (name: string): string =>
    all.find((each) => each.name === name)?.summary ?? 'more commands';
  const commandRows = first.map((name) => [name, summaryOf(name)] as const);
  return `#compdef mcp-saga
_mcp_saga() {
  local -a found
  if (( CURRENT == 2 )); then
    found=(${described(commandRows)})
    _describe command found
    return
  fi
${[...second]
  .map(
    ([one, two]) => `  if (( CURRENT == 3 )) && [[ $words[2] == ${one} ]]; then
    found=(${described(two.map((each) => [each, summaryOf(`${one} ${each}`)]))})
    _describe command found
    return
  fi
`,
  )
  .join('')}  case "$words[2] $words[3]" in
${all.map(({ name, options }) => `    ("${name}"${name.includes(' ') ? '' : '\\ *'}) found=(${described(options.map(([option, { help }]) => [`--${option}`, help]))}) ;;\n`).join('')}  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option found
  else
    _files
  fi
}
compdef _mcp_saga mcp-saga`;
}

function described(rows: readonly (readonly [name: string, text: string])[]): string {
  return rows.map(([name, text]) => quoted(`${name}:${text}`)).join(' ');
}

function fish(all: readonly Completed[]): string {
  const lines = all.flatMap(({ name, summary, options }) => {
    const words = name.split(' ');
    const last = words.at(-1) ?? '';
    const before = words.slice(0, -1).join(' ');
    return [
      `complete -c mcp-saga -f -n '__mcp_saga_is ${quotedWords(before)}' -a ${last} -d ${quoted(summary)}`,
      ...options.map(([option, { short, value, help }]) =>
        [
          `complete -c mcp-saga -n '__mcp_saga_runs ${name}' -l ${option}`,
          ...(short === undefined ? [] : [`-s ${short}`]),
          ...(value === undefined ? [] : ['-r']),
          `-d ${quoted(help)}`,
        ].join(' '),
      ),
    ];
  });
  const { second } = wordsOf(all);
  const families = [...second.keys()].map(
    (one) => `complete -c mcp-saga -f -n '__mcp_saga_is ""' -a ${one} -d 'more commands'`,
  );
  return `# The words before the cursor, without the command itself.
function __mcp_saga_words
  set -l words (commandline -opc)
  set -e words[1]
  echo "$words"
end
function __mcp_saga_is
  test (__mcp_saga_words) = "$argv"
end
function __mcp_saga_runs
  string match -q -- "$argv*" (__mcp_saga_words)
end
${[...families, ...lines].join('\n')}`;
}

function quotedWords(words: string): string {
  return words === '' ? '""' : words;
}

/** Quotes for all three shells. A text of the help has no quotes of its own that would differ. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
