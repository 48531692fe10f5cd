import { expect, it } from 'vitest'
import { validatorOf } from '../../src/http/validation.ts'
import type { AnyService } from '../../src/service.ts'
import { resolveConfig, settingsOf } from '../../src/settings/config.ts'

/** What nobody has set is not checked when a service starts: it is here. */
export const settingsFit = (definition: AnyService): void =>
  it('every setting takes its own default, and what the variants have in its place', () => {
    for (const variant of ['', ...Object.keys(definition.variants ?? {})]) {
      const wrong: string[] = []
      const flags = variant ? [{ service: definition.name, name: 'variant', value: variant }] : []
      const config = resolveConfig(definition, flags, {}, wrong)
      expect([variant, wrong]).toEqual([variant, []])
      const misfits = Object.entries(settingsOf(definition))
        .filter(([name, schema]) => !validatorOf(schema, 'body')(config[name]))
        .map(([name]) => name)
      expect([variant, misfits]).toEqual([variant, []])
    }
  })
