import { expect } from 'chai';
import { Command, Option } from 'commander';
import { escapeRoff, formatManPage } from './command-line-files.ts';

const format = (...commands: Command[]): string[] =>
  formatManPage({
    name: 'tool',
    version: '1.2.3',
    createdAt: 86_400,
    summary: 'does things',
    commands,
    sections: [['ENVIRONMENT', [['TOOL_HOME', 'a folder']]]],
  }).split('\n');

describe('formatManPage', () => {
  it('formatManPage starts with title, date and name', () => {
    const lines = format();
    expect(lines[0]).to.equal('.TH TOOL 1 1970-01-02 "tool 1.2.3" "User Commands"');
    expect(lines).to.include('tool \\- does things');
  });

  it('formatManPage has a section for each verb with its options, choices and defaults', () => {
    const verb = new Command('list')
      .description('print all')
      .argument('<name>', 'name of it')
      .addOption(new Option('-o, --output <format>', 'the format').choices(['json', 'yaml']).default('json'));
    const lines = format(verb);
    expect(lines).to.include.members([
      '.SS tool list [options] <name>',
      'Print all.',
      '.B name',
      '.B \\-o, \\-\\-output <format>',
      'the format (choices: \\(dqjson\\(dq, \\(dqyaml\\(dq, default: \\(dqjson\\(dq)',
    ]);
  });

  it('formatManPage has a section for each subcommand, and none for help or hidden options', () => {
    const verb = new Command('import').description('import').addOption(new Option('--secret').hideHelp());
    verb.command('csv').description('import a file');
    const text = format(verb).join('\n');
    expect(text).to.contain('.SS tool import csv [options]');
    expect(text).not.to.match(/secret|help/);
  });

  it('formatManPage adds sections such as ENVIRONMENT at the end', () => {
    expect(format().slice(-5, -1)).to.deep.equal(['.SH ENVIRONMENT', '.TP', '.B TOOL_HOME', 'a folder']);
  });
});

describe('escapeRoff', () => {
  const cases: [string, string][] = [
    ['--all', '\\-\\-all'],
    ['a\\b', 'a\\eb'],
    ['.TH x', '\\&.TH x'],
    ["'quoted'", "\\&'quoted'"],
    ['two\n  lines', 'two lines'],
  ];
  for (const [text, expected] of cases)
    it(`escapeRoff returns ${expected} for ${JSON.stringify(text)}`, () => {
      expect(escapeRoff(text)).to.equal(expected);
    });
});
