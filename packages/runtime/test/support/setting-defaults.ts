import { expect, it } from 'vitest'
import { createValidator } from '../../src/schema/validation.ts'
import type { AnyService } from '../../src/service.ts'
import { resolveConfig, getSettings } from '../../src/settings/resolve-config.ts'

/** A start does not validate defaults, so this test does. */
export const testSettingDefaults = (definition: AnyService): void =>
  it('every setting accepts its own default and the values of the variants', () => {
    for (const variant of ['', ...Object.keys(definition.variants ?? {})]) {
      const wrong: string[] = []
      const flags = variant ? [{ service: definition.name, name: 'variant', value: variant }] : []
      const config = resolveConfig(definition, flags, {}, wrong)
      expect([variant, wrong]).toEqual([variant, []])
      const invalid = Object.entries(getSettings(definition))
        .filter(([name, schema]) => !createValidator(schema, 'body')(config[name]))
        .map(([name]) => name)
      expect([variant, invalid]).toEqual([variant, []])
    }
  })
