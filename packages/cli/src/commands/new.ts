import { createFromFlags } from 'create-mcp-saga';
import { defineCommand, type Command } from '../model/command.ts';
import { CliError } from '../model/errors.ts';

/** `mcp-saga new`: the same as `npm create mcp-saga`. */
export const newProject: Command = defineCommand({
  parameters: ['dir?'],
  options: {
    template: {
      short: 't',
      value: 'NAME',
      help: 'node, cloudflare-workers, vercel, aws-lambda, existing-server (default: node)',
    },
    language: { short: 'l', value: 'NAME', help: 'typescript or javascript (default: typescript)' },
    name: {
      short: 'n',
      value: 'NAME',
      help: 'name of package and server (default: name of the folder)',
    },
    packages: {
      short: 'p',
      value: 'FOLDER',
      help: 'packages from a clone of mcp-saga (default: from npm)',
    },
    yes: { short: 'y', help: 'asks no questions, and uses the defaults' },
  },
  example: 'mcp-saga new invoices --template node --language typescript',
  run: async ({ json = false, ...flags }, dirs, { isInteractive, environment }) => {
    const lines: string[] = [];
    const given = Object.entries(flags).map(([name, value]) =>
      value === true ? `--${name}` : `--${name}=${value}`,
    );
    const created = await createFromFlags([...given, ...dirs], {
      isInteractive: isInteractive && !json,
      print: (text) => lines.push(text),
      userAgent: environment['npm_config_user_agent'],
    });
    if (created === undefined) throw new CliError('stopped', 'Stopped.');
    // The next steps are commands to copy.
    return { text: lines.join('\n'), isAsIs: true, json: created };
  },
});
