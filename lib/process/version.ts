/** The version of all programs, from package.json. */
import project from '../../package.json' with { type: 'json' };

/** A semantic version, such as '0.1.0'. */
export const version: string = project.version;
