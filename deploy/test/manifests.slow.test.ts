import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { ROOT } from './support/commands.ts'
import { hasGoAndPython, installGoProgram, installPythonPackage } from './support/install-tool.ts'

/** Versions of Kubernetes that are supported. */
const KUBERNETES_VERSIONS = ['1.30.0', '1.34.0', '1.37.0']

let programs: { readonly kubeconform: string; readonly compose: string; readonly schemas: string }
beforeAll(async () => {
  if (!hasGoAndPython) return
  const [kubeconform, compose, environment] = await Promise.all([
    installGoProgram('github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0'),
    installGoProgram('github.com/compose-spec/compose-go/v2/cmd@v2.9.0'),
    // kubeconform loads its schemas from GitHub. This package contains the same ones.
    installPythonPackage('kubernetes-validate==1.37.0'),
  ])
  const [schemas] = globSync(`${environment}/lib/python*/site-packages/kubernetes_validate/kubernetes-json-schema`)
  programs = { kubeconform, compose, schemas: schemas! }
})

/** Writes schemas that contain their definitions: kubeconform does not resolve references to other files. */
function writeSchemas(version: string, names: readonly string[]): string {
  const folder = createTemporaryFolder()
  const read = (name: string) => readFileSync(join(programs.schemas, `v${version}-local-strict`, name), 'utf8')
  const { $defs } = JSON.parse(read('_definitions.json'))
  for (const name of names) {
    const schema = JSON.parse(read(name).replaceAll('/api/_definitions.json#/', '#/'))
    writeFileSync(join(folder, name), JSON.stringify({ ...schema, $id: undefined, $defs }))
  }
  return folder
}

/** Checks a manifest of Kubernetes. @returns the output of kubeconform, empty if the manifest is valid */
function checkManifest(file: string, version: string): string {
  const names = ['service-v1.json', 'poddisruptionbudget-policy-v1.json', 'statefulset-apps-v1.json']
  const schemas = join(writeSchemas(version, names), '{{.ResourceKind}}{{.KindSuffix}}.json')
  const args = ['-strict', '-kubernetes-version', version, '-schema-location', schemas, file]
  const { stdout, stderr } = spawnSync(programs.kubeconform, args, { encoding: 'utf8' })
  return stdout + stderr
}

test.skipIf(!hasGoAndPython).each(KUBERNETES_VERSIONS)('the manifests are valid in Kubernetes %s', (version) => {
  const files = globSync(`${ROOT}/deploy/kubernetes/*.yaml`)
  expect(files).not.toEqual([])
  for (const file of files) expect(checkManifest(file, version)).toBe('')
  const wrong = join(createTemporaryFolder(), 'wrong.yaml')
  writeFileSync(wrong, readFileSync(files[0]!, 'utf8').replace('terminationGracePeriodSeconds', 'terminationGrace'))
  expect(checkManifest(wrong, version)).toMatch(/terminationGrace/)
})

/** Loads a compose file as Compose does, with the values of `.env` that its comment shows. */
function loadCompose(file: string): { readonly status: number | null; readonly said: string; readonly config: string } {
  const text = readFileSync(`${ROOT}/deploy/${file}`, 'utf8')
  const values = new Map(Array.from(text.matchAll(/^#   (\w+)=(\S+)/gm), ([, name, value]) => [name, value] as const))
  const interpolated = text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise?: string) => {
    const value = values.get(name) ?? otherwise
    if (value === undefined) throw new Error(`${file} does not document ${name}`)
    return value
  })
  const path = join(createTemporaryFolder(), file)
  writeFileSync(path, interpolated)
  const { status, stdout, stderr } = spawnSync(programs.compose, [path], { encoding: 'utf8' })
  return { status, said: stderr, config: stdout }
}

test.skipIf(!hasGoAndPython).each(['compose.yaml', 'compose.cluster.yaml'])('%s is valid', (file) => {
  const { status, said, config } = loadCompose(file)
  expect({ status, said }).toEqual({ status: 0, said: '' })
  expect(config).toMatch(/^services:/m)
})
