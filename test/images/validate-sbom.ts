/** Validates a software bill of materials against the schema of CycloneDX 1.6. */
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';

/** Returns the violations as text; '' if it is valid. */
export async function findSchemaViolations(sbom: string): Promise<string> {
  const failure: unknown = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(sbom);
  return failure === null ? '' : JSON.stringify(failure);
}
