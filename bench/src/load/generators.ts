import type { LoadGenerator } from './load.ts'

/** The load generators, by name; what one needs is imported when it is asked for. */
export const generators: Readonly<Record<string, () => Promise<LoadGenerator>>> = {
  raw: async () => (await import('./raw.ts')).createRaw(),
  autocannon: async () => (await import('./autocannon.ts')).createAutocannon(),
  wrk: async () => (await import('./wrk.ts')).createWrk(),
}

/** @throws Error when there is none of that name, or it is not installed */
export async function generatorNamed(name: string): Promise<LoadGenerator> {
  if (!Object.hasOwn(generators, name))
    throw new Error(`no generator is called ${name}; there are ${Object.keys(generators).join(', ')}`)
  const generator = await generators[name]!()
  if (!(await generator.available())) throw new Error(`${name} is not installed here`)
  return generator
}
