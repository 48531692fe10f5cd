import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url)

interface PackageFile {
  readonly name: string
  readonly version: string
}

const readPackage = (folder: string) =>
  JSON.parse(readFileSync(new URL(`${folder}package.json`, ROOT), 'utf8')) as PackageFile & {
    readonly dependencies: Readonly<Record<string, string>>
  }

const root = readPackage('')
const FOLDERS = [
  ...Object.keys(root.dependencies).map((name) => `packages/${name.split('/')[1]}/`),
  'bench/',
  'chaos/',
  'flame/',
  'flame/clinic/',
  'clients/js/',
]

test.each(FOLDERS)('%s has the version of the workspace', (folder) => {
  expect(readPackage(folder).version).toBe(root.version)
})
