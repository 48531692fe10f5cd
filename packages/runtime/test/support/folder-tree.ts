import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTemporaryFolder } from './temporary-folder.ts'

/** Returns all files of a folder with their contents. */
export const readTree = (folder: string): [string, string][] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }): [string, string] => [
      join(parentPath, name).slice(folder.length),
      readFileSync(join(parentPath, name), 'hex'),
    ])
    .toSorted()

/** Copies a folder to one with the name of its service, next to which a repair makes its copies. */
export function copyFolder(folder: string, name: string): string {
  const copy = join(createTemporaryFolder(), name)
  cpSync(folder, copy, { recursive: true })
  return copy
}
