"""Build hook: Vega and the widget's JavaScript become one self-contained module, offline and without Node."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC = Path("dppca_nb", "widgets", "static")
# in order: each may use what stands before it
PARTS = ("view.js", "controls.js", "table.js", "explorer.js", "ledger.js", "loading.js", "pca.js", "gini.js", "main.js")
VEGA_LITE = "6.4"


class BundleHook(BuildHookInterface):
    """Write ``explorer.bundle.js`` beside its sources before the wheel (or the editable install) is made."""

    def initialize(self, version: str, build_data: dict) -> None:
        """Bundle; hatch calls this once a build."""
        if self.target_name == "wheel":
            bundle(Path(self.root))


def bundle(root: Path) -> Path:
    """Join the parts, let vl-convert put Vega in front, and return the written file."""
    import vl_convert

    static = root / STATIC
    ours = "\n".join((static / part).read_text(encoding="utf-8") for part in PARTS)
    target = static / "explorer.bundle.js"
    target.write_text(vl_convert.javascript_bundle(ours, vl_version=VEGA_LITE), encoding="utf-8")
    return target


if __name__ == "__main__":
    bundle(Path(__file__).parent)
