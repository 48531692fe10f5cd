export const trialScenarios = []
