"""Build hook: Vega and our JavaScript become self-contained modules, offline and without Node."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC = Path("dppca_nb", "widgets", "static")
# in order: each may use what stands before it
EXPLORERS = ("view.js", "controls.js", "table.js", "explorer.js", "ledger.js", "loading.js", "pca.js", "gini.js")
LAST = {"explorer.bundle.js": "main.js", "handout.bundle.js": "handout.js"}  # what starts each module
VEGA_LITE = "6.4"


class BundleHook(BuildHookInterface):
    """Write the bundles beside their sources before the wheel (or the editable install) is made."""

    def initialize(self, version: str, build_data: dict) -> None:
        """Bundle; hatch calls this once a build."""
        if self.target_name == "wheel":
            for name in LAST:
                bundle(Path(self.root), name)


def bundle(root: Path, name: str) -> Path:
    """Join the parts of one module, let vl-convert put Vega in front, and return the written file."""
    import vl_convert

    static = root / STATIC
    ours = "\n".join((static / part).read_text(encoding="utf-8") for part in (*EXPLORERS, LAST[name]))
    target = static / name
    target.write_text(vl_convert.javascript_bundle(ours, vl_version=VEGA_LITE), encoding="utf-8")
    return target


if __name__ == "__main__":
    for made in LAST:
        bundle(Path(__file__).parent, made)
