/** Draws the CPU profiles in a folder. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { collectFrames, type CpuProfile, drawFlameGraph } from './flame-graph.ts';

/** Writes a flame graph beside each profile. Returns their paths. */
export function drawProfiles(folder: string): string[] {
  return globSync(join(folder, '*.cpuprofile')).map((file) => {
    const graph = file.replace(/\.cpuprofile$/, '.svg');
    const frames = collectFrames(JSON.parse(readFileSync(file, 'utf8')) as CpuProfile);
    writeFileSync(graph, drawFlameGraph(frames, basename(file, '.cpuprofile')));
    return graph;
  });
}
