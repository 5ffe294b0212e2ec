/** The Go modules of an executable, as the linker recorded them. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from './part.ts';

/** Go's tools escape an upper-case letter in a module path as `!` and the lower-case letter. */
const escapeModule = (module: string): string => module.replace(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`);

const go = (...args: string[]): string => execFileSync('go', args, { encoding: 'utf8' }).trim();

/** Reads the modules, whose sources must be in Go's module cache, and the standard library. */
export function readGoParts(executable: string): Part[] {
  const lines = go('version', '-m', executable).split('\n');
  const goVersion = / go(\S+)$/.exec(lines[0] ?? '')?.[1];
  if (goVersion === undefined) throw new Error(`${executable} has no version of Go`);
  const cache = go('env', 'GOMODCACHE');
  const modules = lines.flatMap((line) => {
    const [, name, version] = /^\s(?:dep|=>)\s(\S+)\s(\S+)/.exec(line) ?? [];
    return name === undefined || version === undefined ? [] : [{ name, version }];
  });
  return [
    toPart('stdlib', goVersion, go('env', 'GOROOT')),
    ...modules.map(({ name, version }) => toPart(name, version, join(cache, `${escapeModule(name)}@${version}`))),
  ];
}

function toPart(name: string, version: string, folder: string): Part {
  const files = globSync('{LICENSE,COPYING,NOTICE}*', { cwd: folder }).sort();
  const notice = files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
  return { kind: 'go', name, version, license: detectLicense(notice), purl: `pkg:golang/${name}@${version}`, notice };
}

/** A sentence for each license that no other license has; the first match counts. */
const marks: readonly (readonly [license: string, mark: RegExp])[] = [
  ['Apache-2.0', /Apache License\s+Version 2\.0, January 2004/],
  ['MIT', /Permission is hereby granted, free of charge, to any person obtaining a copy/],
  ['BSD-3-Clause', /Redistribution and use in source and binary forms[\s\S]*Neither the name/],
  ['BSD-2-Clause', /Redistribution and use in source and binary forms/],
  ['ISC', /Permission to use, copy, modify, and\/or distribute this software/],
];

/** The SPDX id of a license text; '' for an unknown license. */
const detectLicense = (text: string): string => marks.find(([, mark]) => mark.test(text))?.[0] ?? '';
