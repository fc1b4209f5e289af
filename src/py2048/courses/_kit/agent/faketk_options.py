"""Option names of Tk's widgets, and the few rules for their values that programs trip over."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KNOWN = {
    "accelerator", "activebackground", "activeborderwidth", "activefill", "activeforeground",
    "activeimage", "activeoutline", "activerelief", "activestyle", "activewidth", "anchor",
    "angle", "arrow", "arrowshape", "aspect", "autoseparators", "background", "bigincrement",
    "bitmap", "blockcursor", "borderwidth", "buttonbackground", "buttoncursor", "capstyle",
    "cascade", "class", "closeenough", "colormap", "column", "columns", "command", "compound",
    "confine", "container", "cursor", "dash", "dashoffset", "default", "digits", "direction",
    "disabledbackground", "disabledfill", "disabledforeground", "disabledoutline", "disabledwidth",
    "displaycolumns", "displayof", "elementborderwidth", "endline", "exportselection", "extent",
    "file", "fill", "font", "foreground", "format", "from", "grid", "handlepad", "handlesize",
    "height", "hideselect", "highlightbackground", "highlightcolor", "highlightthickness", "image",
    "inactiveselectbackground", "increment", "indicatoron", "insertbackground",
    "insertborderwidth", "insertofftime", "insertontime", "insertwidth", "invalidcommand",
    "joinstyle", "jump", "justify", "label", "labelanchor", "labelwidget", "length",
    "listvariable", "maximum", "maxundo", "menu", "mode", "offrelief", "offset", "offvalue",
    "onvalue", "opaqueresize", "orient", "outline", "outlinestipple", "overrelief", "padding",
    "padx", "pady", "phase", "postcommand", "proxybackground", "readonlybackground", "relief",
    "repeatdelay", "repeatinterval", "resolution", "row", "sashpad", "sashrelief", "sashwidth",
    "screen", "scrollregion", "selectbackground", "selectborderwidth", "selectcolor",
    "selectforeground", "selectimage", "selectmode", "selecttype", "setgrid", "show", "showhandle",
    "showvalue", "side", "sliderlength", "sliderrelief", "smooth", "spacing1", "spacing2",
    "spacing3", "splinesteps", "start", "startline", "state", "sticky", "stipple", "style", "tabs",
    "tabstyle", "tags", "takefocus", "tearoff", "tearoffcommand", "text", "textvariable",
    "tickinterval", "title", "to", "tristateimage", "tristatevalue", "troughcolor", "type",
    "underline", "undo", "use", "validate", "validatecommand", "value", "values", "variable",
    "visible", "visual", "weight", "width", "window", "wrap", "wraplength", "xscrollcommand",
    "xscrollincrement", "yscrollcommand", "yscrollincrement",
}  # fmt: skip
SHORT = {
    "bg": "background", "fg": "foreground", "bd": "borderwidth", "border": "borderwidth",
    "from_": "from", "class_": "class", "vcmd": "validatecommand", "invcmd": "invalidcommand",
}  # fmt: skip
DEFAULTS: dict[str, Any] = {"state": "normal", "text": "", "background": "#d9d9d9"}
COLOURS = {"background", "foreground", "fill", "outline", "highlightbackground", "highlightcolor"}
SIZES = {"width", "height", "borderwidth", "padx", "pady", "highlightthickness", "wraplength"}


def full_name(name: str) -> str:
    """The long form of an option's name."""
    return SHORT.get(name, name)


def problem(name: str, value: Any) -> str:
    """Tk's complaint about an option, or an empty text."""
    if name not in KNOWN:
        return f'unknown option "-{name}"'
    if name in COLOURS and isinstance(value, str) and value.startswith("#"):
        digits = value[1:]
        if len(digits) not in {3, 6, 9, 12} or any(c not in HEX for c in digits):
            return f'invalid color name "{value}"'
    if name in COLOURS and value is not None and not isinstance(value, str):
        return f'unknown color name "{value}"'
    if name in SIZES and not isinstance(value, list | tuple) and not _is_size(value):
        return f'bad screen distance "{value}"'
    return ""


HEX = set("0123456789abcdefABCDEF")


def _is_size(value: Any) -> bool:
    text = str(value).strip().rstrip("cimp")
    try:
        float(text or 0)
    except ValueError:
        return False
    return True


def pixels(value: Any) -> int:
    """A screen distance as whole pixels."""
    scale = {"c": 37.8, "i": 96.0, "m": 3.78, "p": 1.33}
    text = str(value).strip() or "0"
    factor = scale.get(text[-1], 1.0)
    try:
        return round(float(text.rstrip("cimp")) * factor)
    except ValueError:
        return 0
