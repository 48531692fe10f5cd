import { settingsOf, variableOf } from './config.ts'
import type { AnyService } from '../service.ts'
import { commonSettings, withFiles, type Setting, type Settings } from './settings.ts'
import { table } from '../table.ts'

const ofAll = withFiles(commonSettings)

const shown = (value: unknown) => (value === '' || (Array.isArray(value) && value.length === 0) ? '-' : String(value))

function choices({ enum: names }: Setting): string {
  return names ? ` (${names.join(', ')})` : ''
}

function rows(
  settings: Settings,
  variable: (name: string) => string,
  defaults: Record<string, unknown> = {},
): string[][] {
  return Object.entries(settings).map(([name, schema]) => {
    const env = [schema.env, variable(name)].filter(Boolean).join(', ')
    return [
      `  --${name}`,
      shown(defaults[name] ?? schema.default ?? ''),
      env,
      `${schema.description}${choices(schema)}`,
    ]
  })
}

/** The text of `pnpm start --help`: every setting of every service, with its default. */
export function helpText(definitions: readonly AnyService[]): string {
  const head = ['setting', 'default', 'environment', 'meaning']
  const own = definitions.flatMap((definition) => {
    const { name, summary, port, variants } = definition
    const settings = Object.fromEntries(
      Object.entries(settingsOf(definition)).filter(([key]) => !Object.hasOwn(ofAll, key)),
    )
    return [
      '',
      `${name}: ${summary} (port ${port}, data in ./data/${name})`,
      ...(variants ? [`  variants: ${Object.keys(variants).join(', ')}`] : []),
      ...table([head.with(0, '  setting'), ...rows(settings, (key) => variableOf(name, key))]),
    ]
  })
  return [
    'pnpm start [service...] [--setting value...] [--service.setting value...]',
    '',
    `Starts the named services, or all: ${definitions.map(({ name }) => name).join(', ')}.`,
    'A setting comes from its default, the variant, the environment or a flag; the later wins. A flag without the name of',
    'a service goes to every started service that has it.',
    '',
    'Every service:',
    ...table([head.with(0, '  setting'), ...rows(ofAll, (key) => `<SERVICE>${variableOf('', key)}`)]),
    ...own,
    '',
  ].join('\n')
}
